// SPDX-License-Identifier: Apache-2.0
// Which transports there are besides our own sockets, and the programs that carry for them.

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tw::carrier {

struct Transport {
  std::string_view name;     ///< as `transport` of a job says it
  std::string_view library;  ///< whose bytes they are
  std::string_view package;  ///< Debian's, to build with
  /// One launcher starts the carriers of all ranks, rather than each rank its own.
  bool starts_together = false;
};

std::span<const Transport> transports();

/// Whether bytes go another way than over our own sockets.
bool is_carried(std::string_view transport);
/// REQUIRES: is_carried.
const Transport& transport_named(std::string_view name);

/// Where the carrier's program is: beside this one. Empty when it was not built. REQUIRES:
/// is_carried.
std::string program_of(std::string_view transport);
std::string program_of(std::string_view transport, const std::filesystem::path& beside);

}  // namespace tw::carrier
