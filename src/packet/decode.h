// SPDX-License-Identifier: Apache-2.0
// One captured frame into a Packet: link layer, IP, transport.
//
// Ethernet with up to four VLAN tags, Linux cooked v1 and v2, BSD loopback, raw IP; IPv4 with
// options and fragments, IPv6 with extension headers; TCP with timestamp, window scale and segment
// size options; UDP; RoCEv2; of a tunnel (tunnel.h) the inner packet, up to three deep, with the
// bytes that the outer one has on the wire. What is cut off by the snap length is taken from length fields: 54
// bytes of an untagged Ethernet frame give everything but TCP options. Pure and total: any bytes
// give a Packet.
//
// Of a length field that promises more than the frame held on the wire, only what the frame held
// counts; one that promises less than its own header makes the packet Malformed.
//
// Limits: fragments are not reassembled, also not those of a tunnel; MPLS, PPPoE and LLC frames are
// NotIp.

#pragma once

#include "trainwire/packet/address_table.h"
#include "trainwire/packet/byte_order.h"
#include "trainwire/packet/packet.h"
#include "trainwire/packet/record.h"

#include <span>

namespace tw::packet {

/// What TCP options say; zero where they are absent or cut off.
struct TcpOptions {
  std::uint32_t timestamp_value = 0;
  std::uint32_t timestamp_echo = 0;
  std::uint16_t segment_bytes = 0;
  std::uint8_t window_scale = 0;  ///< + 1
};

/// `options` are the captured bytes behind the fixed header, up to the end of the TCP header. A
/// SYN's window scale and segment size mean nothing on other segments: `flags` decides whether to
/// take them.
TcpOptions tcp_options(std::span<const std::byte> options, std::uint8_t flags);

/// Any frame, any link type. Slower than decode() and equal in result.
void decode_any(const Record& record, AddressTable& addresses, Packet& packet);

/// The ordinary case, TCP in unfragmented IPv4 without options in untagged Ethernet, between known
/// addresses, with a timestamp for the only TCP option or none: true when that is what the record
/// holds, false with `packet` untouched otherwise. Calls nothing, so that all stays in registers.
[[gnu::always_inline]] inline bool decode_common(const Record& record,
                                                 const AddressTable& addresses, Packet& packet) {
  constexpr std::size_t kIp = 14;
  constexpr std::size_t kTcp = kIp + 20;
  const std::byte* frame = record.bytes.data();
  const std::size_t captured = record.bytes.size();
  if (captured < kTcp + 20) return false;
  const auto ethertype_version = load_big<std::uint32_t>(frame + 12);  // and the ECN bits
  const auto fragment_protocol = load_big<std::uint32_t>(frame + kIp + 6);
  const std::uint32_t ip_bytes = load_big<std::uint16_t>(frame + kIp + 2);
  const auto offset_flags_window = load_big<std::uint32_t>(frame + kTcp + 12);
  const std::uint32_t header_bytes = offset_flags_window >> 28 << 2;
  const std::uint32_t source = addresses.known_v4(load_big<std::uint32_t>(frame + kIp + 12));
  const std::uint32_t destination = addresses.known_v4(load_big<std::uint32_t>(frame + kIp + 16));
  // Single & on purpose: one well-predicted branch instead of eight.
  const bool common = ((ethertype_version & 0xffffff00) == 0x08004500) &
                      ((fragment_protocol & 0x3fff00ff) == 6) & (header_bytes >= 20) &
                      (ip_bytes >= 20 + header_bytes) & (record.original_bytes <= kIp + 0xffff) &
                      (kIp + ip_bytes <= record.original_bytes) &
                      (captured <= record.original_bytes) & (source != 0) & (destination != 0);
  if (!common) return false;

  std::uint32_t timestamp_value = 0;
  std::uint32_t timestamp_echo = 0;
  if (header_bytes > 20 && captured > kTcp + 20) {
    // Two no-operations and a timestamp, nothing else, are what most Linux segments carry.
    if (header_bytes != 32 || captured < kTcp + 24 ||
        load_big<std::uint32_t>(frame + kTcp + 20) != 0x0101080a) {
      return false;
    }
    if (captured >= kTcp + 32) {
      timestamp_value = load_big<std::uint32_t>(frame + kTcp + 24);
      timestamp_echo = load_big<std::uint32_t>(frame + kTcp + 28);
    }
  }
  packet = {
      .time_ns = record.time_ns,
      .source = source,
      .destination = destination,
      .source_port = load_big<std::uint16_t>(frame + kTcp),
      .destination_port = load_big<std::uint16_t>(frame + kTcp + 2),
      .sequence = load_big<std::uint32_t>(frame + kTcp + 4),
      .acknowledgement = load_big<std::uint32_t>(frame + kTcp + 8),
      .wire_bytes = record.original_bytes,
      .payload_bytes = ip_bytes - 20 - header_bytes,
      .timestamp_value = timestamp_value,
      .timestamp_echo = timestamp_echo,
      .window = static_cast<std::uint16_t>(offset_flags_window),
      .identification = load_big<std::uint16_t>(frame + kIp + 4),
      .tcp_flags = static_cast<std::uint8_t>(offset_flags_window >> 16),
      .ip_protocol = 6,
      .verdict = Verdict::Tcp,
      .window_scale = 0,
      .interface = record.interface,
      .ecn = static_cast<std::uint8_t>(ethertype_version & 3),
      .super_frame = record.original_bytes > kLargestWireFrame,
      .captured_bytes = static_cast<std::uint32_t>(captured),
      .segment_bytes = 0,
  };
  return true;
}

/// Decodes `record` into `packet`, all fields of which are written.
[[gnu::always_inline]] inline void decode(const Record& record, AddressTable& addresses,
                                          Packet& packet) {
  if (record.link == Link::Ethernet && decode_common(record, addresses, packet)) [[likely]]
    return;
  // A copy, so that the record itself may live in registers.
  const Record odd = record;
  decode_any(odd, addresses, packet);
}

}  // namespace tw::packet
