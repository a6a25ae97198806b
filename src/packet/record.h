// SPDX-License-Identifier: Apache-2.0
// One packet as a capture file stores it: not yet decoded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tw::packet {

/// How the first bytes of a frame are to be read.
enum class Link : std::uint8_t {
  Ethernet,
  LinuxCooked,   ///< "any" device, 16-byte header
  LinuxCooked2,  ///< the same, 20-byte header
  Null,          ///< BSD loopback: address family in 4 bytes, either order
  RawIp,         ///< version told by the first four bits
  Ipv4,
  Ipv6,
  Unknown,
};

/// From a LINKTYPE_ number (https://www.tcpdump.org/linktypes.html).
Link link_of(std::uint32_t link_type);

/// `bytes` lie in the reader's window: valid until the next record is asked for.
struct Record {
  std::span<const std::byte> bytes;
  std::uint32_t original_bytes;
  std::int64_t time_ns;
  std::uint16_t interface;  ///< index into FileFacts::interfaces
  Link link;
};

}  // namespace tw::packet
