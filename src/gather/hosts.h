// SPDX-License-Identifier: Apache-2.0
// Addresses into hosts: one each, unless a hosts file gives several addresses one name.

#pragma once

#include "trainwire/gather/captured.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tw::gather {

enum class Role { Worker, Server, Chief, CrossTraffic, Other };

struct Host {
  std::string name;                      ///< its address, or the name from a hosts file
  std::vector<std::uint32_t> addresses;  ///< numbers in Traffic::addresses
  Role role = Role::Other;
};

inline constexpr int kNoHost = -1;

struct HostTable {
  std::vector<Host> hosts;   ///< by first address
  std::vector<int> host_of;  ///< by address number; kNoHost for groups and the like
};

/// Only addresses of single hosts that exchanged packets with another one, and those that have a
/// name. `names` pairs address text with host name.
HostTable host_table(const Captured& traffic,
                     const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace tw::gather
