// SPDX-License-Identifier: Apache-2.0
// One captured packet, decoded as far as the analysis needs it, in one cache line.
//
// A packet that cannot be decoded is data, not an error: its verdict says how far decoding got, and
// it is still counted by its bytes. Bytes are original lengths on the wire, never what the snap
// length left of them.

#pragma once

#include <cstdint>

namespace tw::packet {

/// How far a packet could be decoded. Fields past that point are zero.
enum class Verdict : std::uint8_t {
  Tcp,          ///< up to and including the TCP header's fixed part
  Udp,          ///< up to and including the UDP header
  Rocev2,       ///< UDP port 4791 with an InfiniBand base transport header
  OtherIp,      ///< IP, another protocol
  Fragment,     ///< IP, not the first fragment: no ports
  NotIp,        ///< ARP, LLDP, ...
  TooShort,     ///< the snap length or the frame ends inside a header that was needed
  Malformed,    ///< a length or version field contradicts the packet
  UnknownLink,  ///< the capture's link type is none that we decode
};
inline constexpr int kVerdicts = 9;

enum TcpFlag : std::uint8_t {
  kFin = 1,
  kSyn = 2,
  kRst = 4,
  kPsh = 8,
  kAck = 16,
  kUrg = 32,
  kEce = 64,
  kCwr = 128
};

/// The largest frame that Ethernet equipment forwards: an MTU of 9,216 bytes, the Ethernet header
/// and two VLAN tags. Whatever is larger was captured before segmentation or after aggregation.
inline constexpr std::uint32_t kLargestWireFrame = 9216 + 14 + 2 * 4;

/// Times in nanoseconds since the epoch. Addresses are numbers in the reader's AddressTable; 0 is
/// "none".
struct alignas(64) Packet {
  std::int64_t time_ns;
  std::uint32_t source;
  std::uint32_t destination;
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint32_t sequence;         ///< TCP; RoCEv2: packet sequence number (24 bits)
  std::uint32_t acknowledgement;  ///< TCP; RoCEv2: destination queue pair (24 bits)
  std::uint32_t wire_bytes;       ///< whole frame, original length
  /// TCP, UDP: behind that header, from IP lengths (from the original length when those are 0 or
  /// cannot express it), so link-layer padding does not count; never more than the frame holds. RoCEv2: message bytes, without
  /// InfiniBand headers, padding and checksum. OtherIp, Fragment: behind the IP headers.
  std::uint32_t payload_bytes;
  std::uint32_t timestamp_value;  ///< TCP timestamp option, 0 when absent or cut off
  std::uint32_t timestamp_echo;
  std::uint16_t window;          ///< TCP, unscaled
  std::uint16_t identification;  ///< IPv4, to recognise the same packet in two captures
  std::uint8_t tcp_flags;        ///< TcpFlag bits; RoCEv2: opcode
  std::uint8_t ip_protocol;      ///< behind the extension headers
  Verdict verdict;
  std::uint8_t window_scale;  ///< from the option of a SYN + 1; 0 when there is none
  std::uint16_t interface;    ///< index into FileFacts::interfaces
  std::uint8_t ecn;           ///< two bits of the IP header
  /// Offload for certain: larger than kLargestWireFrame, or IP with length 0. A frame of two
  /// 1,448-byte segments is one too, but only the flow's segment size can tell.
  bool super_frame;
  std::uint32_t captured_bytes;  ///< of the frame that are in the file
  std::uint16_t
      segment_bytes;  ///< maximum segment size, from the option of a SYN; 0 when there is none
  /// What tells datagrams with one identification apart: UDP: the checksum, 0 when there is none;
  /// Fragment: where it begins, in units of eight bytes.
  std::uint16_t distinction = 0;
};
static_assert(sizeof(Packet) == 64);

}  // namespace tw::packet
