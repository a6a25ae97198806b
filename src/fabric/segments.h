// SPDX-License-Identifier: Apache-2.0
// Super-packets: what a TAP with offloads hands over instead of single frames.
//
// A host's kernel leaves the cutting of up to 64 KB of TCP or UDP payload to its network card. The
// TAP gives such a packet whole, behind a header (virtio_net_hdr) that says how it is to be cut.
// This file says which wire packets ("segments") it stands for, takes any run of them out as a
// packet that the receiving kernel accepts, and marks congestion. A packet here is that header and
// the Ethernet frame. Pure; any bytes are safe: what is not understood is one segment.
//
// Limits: IPv6 with extension headers and VLAN tags are not cut.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tw::fabric {

/// The kernel's struct virtio_net_hdr (linux/virtio_net.h is not C++), in the machine's byte order.
struct OffloadHeader {
  std::uint8_t flags = 0;
  std::uint8_t kind = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t checksum_start = 0;   ///< from the frame's begin: TCP's or UDP's header
  std::uint16_t checksum_offset = 0;  ///< of the field, from checksum_start

  static constexpr std::uint8_t kNeedsChecksum = 1;  ///< flag: the field holds the pseudo-header's
  static constexpr std::uint8_t kPlain = 0;
  static constexpr std::uint8_t kTcp4 = 1;
  static constexpr std::uint8_t kTcp6 = 4;
  static constexpr std::uint8_t kUdp = 5;     ///< VIRTIO_NET_HDR_GSO_UDP_L4, Linux 6.2
  static constexpr std::uint8_t kEcn = 0x80;  ///< with kTcp: CWR only on the first segment
};
inline constexpr std::size_t kOffloadBytes = sizeof(OffloadHeader);
static_assert(kOffloadBytes == 10);

enum class Transport : std::uint8_t { Other, Tcp, Udp };

/// How a packet is cut on the wire. A packet that is not cut has one segment and transport Other.
struct Segments {
  int count = 1;
  int header_bytes = 0;   ///< Ethernet's to TCP's or UDP's, in front of each segment
  int segment_bytes = 0;  ///< payload of each but the last
  int payload_bytes = 0;  ///< of all; where nothing is cut, the whole frame
  Transport transport = Transport::Other;
  bool is_ip = false;

  /// Frame bytes of segment i.
  int wire_bytes(int i) const;
  /// Frame bytes of all.
  std::int64_t wire_bytes() const;
  bool operator==(const Segments&) const = default;
};

Segments describe(std::span<const std::uint8_t> packet);

/// Bytes of the packet that holds segments [first, first + count).
/// REQUIRES: 0 <= first, 0 < count, first + count <= segments.count.
std::size_t cut_bytes(const Segments& segments, int first, int count);
/// Writes that packet: length, IPv4 identification and checksum, TCP sequence, the pseudo-header's
/// sum; PSH and FIN only with the last segment, CWR only with the first.
/// REQUIRES: segments == describe(packet), into.size() == cut_bytes(...).
void cut(std::span<const std::uint8_t> packet, const Segments& segments, int first, int count,
         std::span<std::uint8_t> into);

/// Whether the sender lets switches mark the packet instead of dropping it (RFC 3168: ECT or CE).
bool allows_marking(std::span<const std::uint8_t> packet);
/// Sets "congestion experienced". REQUIRES: allows_marking(packet).
void mark_congestion(std::span<std::uint8_t> packet);

}  // namespace tw::fabric
