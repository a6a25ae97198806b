// SPDX-License-Identifier: Apache-2.0
// What a capture file says about itself, besides its packets.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::capture {

/// Interfaces are numbered over the whole file: those of a second section follow those of the
/// first.
struct Interface {
  std::uint32_t link_type = 0;  ///< LINKTYPE_ number of the pcap formats
  std::uint32_t snaplen = 0;    ///< 0: no limit stated
  std::string name = {};        ///< printable ASCII; "" when the file does not say
  std::int64_t ticks_per_second = 1'000'000'000;
  std::optional<std::uint64_t> received = {};  ///< by the interface, from the last statistics block
  /// By the interface and the operating system, from the last statistics block; where there is
  /// none, the sum of the counts that came with the packets.
  std::optional<std::uint64_t> dropped = {};
};

struct FileFacts {
  std::string format = {};       ///< "pcap", "pcapng"
  std::string compression = {};  ///< "none", "gzip", "zstd"
  std::int64_t file_bytes = 0;   ///< as stored; 0 for a pipe
  bool nanoseconds = false;      ///< the finest interface has a resolution of 1 ns or better
  std::vector<Interface> interfaces = {};
};

/// Where reading had to end, and why. Everything before `offset` was delivered.
struct Damage {
  std::int64_t offset;  ///< in the uncompressed stream: of the record that could not be read
  std::string text;     ///< "the packet is cut off after 12 of 150 bytes"
};

}  // namespace tw::capture
