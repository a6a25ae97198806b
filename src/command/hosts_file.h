// SPDX-License-Identifier: Apache-2.0
// Names for addresses, from a file that the user wrote.
//
// CSV: address and name in the first two columns, or in those that a header calls `address` (or
// `ip`) and `name` (or `host`). TOML: "10.0.0.1" = "worker0", or worker0 = "10.0.0.1", or
// worker0 = ["10.0.0.1", "10.1.0.1"], at the top or in a table. Several addresses may share a name:
// they are one host.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::command {

/// Address (as captures print it) and name.
using HostNameList = std::vector<std::pair<std::string, std::string>>;

/// Throws DataError naming the file, the place and what was expected; also when an address is named
/// twice or there is none.
HostNameList parse_hosts(std::string_view text, const std::string& path);
/// Throws SystemError too.
HostNameList read_hosts(const std::string& path);

/// A file of modest size, whole. Throws SystemError.
std::string read_whole(const std::string& path);

}  // namespace tw::command
