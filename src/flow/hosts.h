// SPDX-License-Identifier: Apache-2.0
// Addresses into hosts: one each, unless a hosts file gives several addresses one name.

#pragma once

#include "trainwire/flow/analysis.h"

#include <string>
#include <utility>
#include <vector>

namespace tw::flow {

struct HostTable {
  std::vector<Host> hosts;   ///< by first address
  std::vector<int> host_of;  ///< by address number
};

/// Only addresses that sent or received packets. `names` pairs address text with host name.
HostTable host_table(const Traffic& traffic,
                     const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace tw::flow
