// SPDX-License-Identifier: Apache-2.0
// Addresses into hosts: one each, unless a hosts file gives several addresses one name.

#pragma once

#include "trainwire/flow/analysis.h"

#include <string>
#include <utility>
#include <vector>

namespace tw::flow {

inline constexpr int kNoHost = -1;

struct HostTable {
  std::vector<Host> hosts;   ///< by first address
  std::vector<int> host_of;  ///< by address number; kNoHost for groups and the like
};

/// Only addresses of single hosts that exchanged packets with another one, and those that have a
/// name. `names` pairs address text with host name.
HostTable host_table(const Traffic& traffic,
                     const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace tw::flow
