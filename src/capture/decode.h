// SPDX-License-Identifier: Apache-2.0
// One captured frame into a Packet: link layer, IP, transport.
//
// Ethernet with up to four VLAN tags, Linux cooked v1 and v2, BSD loopback, raw IP; IPv4 with
// options and fragments, IPv6 with extension headers; TCP with timestamp, window scale and segment
// size options; UDP; RoCEv2. What is cut off by the snap length is taken from length fields: 54
// bytes of an untagged Ethernet frame give everything but TCP options. Pure and total: any bytes
// give a Packet.
//
// A length field that promises more than the frame holds is believed (mirror ports truncate
// frames), one that promises less than its own header makes the packet Malformed.
//
// Limits: tunnels (VXLAN, GRE, IP in IP) are seen as their outer packet; fragments are not
// reassembled; MPLS, PPPoE and LLC frames are NotIp.

#pragma once

#include "trainwire/capture/address_table.h"
#include "trainwire/capture/byte_order.h"
#include "trainwire/capture/packet.h"
#include "trainwire/capture/record.h"

#include <algorithm>
#include <span>

namespace tw::capture {

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

/// The ordinary case, TCP in unfragmented IPv4 without options in untagged Ethernet: true when that
/// is what the record holds, false with `packet` untouched otherwise.
[[gnu::always_inline]] inline bool decode_common(const Record& record, AddressTable& addresses,
                                                 Packet& packet) {
  constexpr std::size_t kIp = 14;
  constexpr std::size_t kTcp = kIp + 20;
  const std::byte* frame = record.bytes.data();
  if (record.bytes.size() < kTcp + 20) return false;
  const auto ethertype_version = load_big<std::uint32_t>(frame + 12);  // and the ECN bits
  const auto fragment_protocol = load_big<std::uint32_t>(frame + kIp + 6);
  const std::uint32_t ip_bytes = load_big<std::uint16_t>(frame + kIp + 2);
  const auto offset_flags_window = load_big<std::uint32_t>(frame + kTcp + 12);
  const std::uint32_t header_bytes = offset_flags_window >> 28 << 2;
  // Single & on purpose: one well-predicted branch instead of six.
  const bool common = ((ethertype_version & 0xffffff00) == 0x08004500) &
                      ((fragment_protocol & 0x3fff00ff) == 6) & (header_bytes >= 20) &
                      (ip_bytes >= 20 + header_bytes) & (record.original_bytes <= kIp + 0xffff) &
                      (record.bytes.size() <= record.original_bytes);
  if (!common) return false;

  const auto flags = static_cast<std::uint8_t>(offset_flags_window >> 16);
  TcpOptions options;
  if (header_bytes > 20) {
    const std::size_t end = std::min<std::size_t>(kTcp + header_bytes, record.bytes.size());
    // Two no-operations and a timestamp, nothing else, are what most Linux segments carry.
    const bool timestamp_only = header_bytes == 32 && end == kTcp + 32 &&
                                load_big<std::uint32_t>(frame + kTcp + 20) == 0x0101080a;
    if (timestamp_only) {
      options.timestamp_value = load_big<std::uint32_t>(frame + kTcp + 24);
      options.timestamp_echo = load_big<std::uint32_t>(frame + kTcp + 28);
    } else {
      options = tcp_options(record.bytes.subspan(kTcp + 20, end - kTcp - 20), flags);
    }
  }
  packet = {
      .time_ns = record.time_ns,
      .source = addresses.number_of_v4(load_big<std::uint32_t>(frame + kIp + 12)),
      .destination = addresses.number_of_v4(load_big<std::uint32_t>(frame + kIp + 16)),
      .source_port = load_big<std::uint16_t>(frame + kTcp),
      .destination_port = load_big<std::uint16_t>(frame + kTcp + 2),
      .sequence = load_big<std::uint32_t>(frame + kTcp + 4),
      .acknowledgement = load_big<std::uint32_t>(frame + kTcp + 8),
      .wire_bytes = record.original_bytes,
      .payload_bytes = ip_bytes - 20 - header_bytes,
      .timestamp_value = options.timestamp_value,
      .timestamp_echo = options.timestamp_echo,
      .window = static_cast<std::uint16_t>(offset_flags_window),
      .identification = load_big<std::uint16_t>(frame + kIp + 4),
      .tcp_flags = flags,
      .ip_protocol = 6,
      .verdict = Verdict::Tcp,
      .window_scale = options.window_scale,
      .interface = record.interface,
      .ecn = static_cast<std::uint8_t>(ethertype_version & 3),
      .super_frame = record.original_bytes > kLargestWireFrame,
      .captured_bytes = static_cast<std::uint32_t>(record.bytes.size()),
      .segment_bytes = options.segment_bytes,
  };
  return true;
}

/// Decodes `record` into `packet`, all fields of which are written.
[[gnu::always_inline]] inline void decode(const Record& record, AddressTable& addresses,
                                          Packet& packet) {
  if (record.link == Link::Ethernet && decode_common(record, addresses, packet)) [[likely]]
    return;
  decode_any(record, addresses, packet);
}

}  // namespace tw::capture
