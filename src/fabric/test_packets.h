// SPDX-License-Identifier: Apache-2.0
// What tests of the TAP switch share: packets as a TAP device hands them over, and a second opinion
// on checksums.

#pragma once

#include "trainwire/fabric/segments.h"
#include "trainwire/network/plan.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace tw::fabric {

using Packet = std::vector<std::uint8_t>;

struct PacketOptions {
  int version = 4;
  Transport transport = Transport::Tcp;
  int payload = 0;
  int segment = 0;         ///< 0: a plain packet
  std::uint8_t ecn = 0;    ///< the two bits
  std::uint8_t flags = 0;  ///< of TCP
  std::uint32_t sequence = 1000;
  std::uint16_t identification = 7;
  network::Mac to = {2, 0x77, 0, 0, 0, 2};
};

inline void append16(Packet& packet, std::uint32_t value) {
  packet.push_back(static_cast<std::uint8_t>(value >> 8));
  packet.push_back(static_cast<std::uint8_t>(value));
}

inline std::uint32_t read16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 8 | bytes[at + 1];
}

/// One's complement sum of RFC 1071, byte by byte; an odd last byte is padded.
inline std::uint32_t plain_sum(std::span<const std::uint8_t> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? bytes[i] * 256u : bytes[i];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint32_t>(sum);
}

/// The frame behind the offload header.
inline std::span<const std::uint8_t> frame_of(std::span<const std::uint8_t> packet) {
  return packet.subspan(kOffloadBytes);
}

inline OffloadHeader offload_header(std::span<const std::uint8_t> packet) {
  OffloadHeader header;
  std::memcpy(&header, packet.data(), kOffloadBytes);
  return header;
}

/// Addresses, protocol and length as TCP and UDP sum them.
inline Packet pseudo_header(std::span<const std::uint8_t> frame, std::size_t transport_bytes,
                            std::uint8_t protocol) {
  const bool is_v4 = frame[14] >> 4 == 4;
  const auto addresses = is_v4 ? frame.subspan(26, 8) : frame.subspan(22, 32);
  Packet pseudo(addresses.begin(), addresses.end());
  append16(pseudo, static_cast<std::uint32_t>(transport_bytes));
  append16(pseudo, protocol);
  return pseudo;
}

/// A packet with byte i % 251 as payload byte i and a checksum left to the card.
inline Packet make_packet(const PacketOptions& options) {
  const bool is_tcp = options.transport == Transport::Tcp;
  const int transport_header = is_tcp ? 20 : 8;
  const auto transport_bytes = static_cast<std::uint32_t>(transport_header + options.payload);
  const std::uint8_t protocol = is_tcp ? 6 : 17;
  const int start = options.version == 4 ? 34 : 54;
  OffloadHeader offload{.flags = OffloadHeader::kNeedsChecksum,
                        .header_bytes = static_cast<std::uint16_t>(start + transport_header),
                        .segment_bytes = static_cast<std::uint16_t>(options.segment),
                        .checksum_start = static_cast<std::uint16_t>(start),
                        .checksum_offset = static_cast<std::uint16_t>(is_tcp ? 16 : 6)};
  if (options.segment > 0) {
    const std::uint8_t tcp = options.version == 4 ? OffloadHeader::kTcp4 : OffloadHeader::kTcp6;
    offload.kind = is_tcp ? tcp : OffloadHeader::kUdp;
  }
  Packet packet(kOffloadBytes);
  std::memcpy(packet.data(), &offload, kOffloadBytes);
  packet.insert(packet.end(), options.to.begin(), options.to.end());
  packet.insert(packet.end(), {2, 0x77, 0, 0, 0, 1});
  if (options.version == 4) {
    packet.insert(packet.end(), {0x08, 0x00, 0x45, options.ecn});
    append16(packet, 20 + transport_bytes);
    append16(packet, options.identification);
    packet.insert(packet.end(), {0x40, 0, 64, protocol, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2});
    const std::uint32_t sum = ~plain_sum(std::span(packet).subspan(kOffloadBytes + 14, 20));
    packet[kOffloadBytes + 24] = static_cast<std::uint8_t>(sum >> 8);
    packet[kOffloadBytes + 25] = static_cast<std::uint8_t>(sum);
  } else {
    packet.insert(packet.end(),
                  {0x86, 0xdd, 0x60, static_cast<std::uint8_t>(options.ecn << 4), 0, 0});
    append16(packet, transport_bytes);
    packet.insert(packet.end(), {protocol, 64});
    for (const std::uint8_t host : {std::uint8_t{1}, std::uint8_t{2}}) {
      packet.insert(packet.end(), {0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host});
    }
  }
  const std::uint32_t partial =
      plain_sum(pseudo_header(frame_of(packet), transport_bytes, protocol));
  append16(packet, 5001);
  append16(packet, 5002);
  if (is_tcp) {
    append16(packet, options.sequence >> 16);
    append16(packet, options.sequence & 0xffff);
    packet.insert(packet.end(), {0, 0, 0, 9, 0x50, options.flags, 0xff, 0xff});
    append16(packet, partial);
    append16(packet, 0);
  } else {
    append16(packet, transport_bytes);
    append16(packet, partial);
  }
  for (int i = 0; i < options.payload; ++i) packet.push_back(static_cast<std::uint8_t>(i % 251));
  return packet;
}

/// Does what a card does: completes the checksum that was left to it.
inline void complete_checksum(Packet& packet) {
  const OffloadHeader offload = offload_header(packet);
  const auto behind = std::span(packet).subspan(kOffloadBytes + offload.checksum_start);
  const std::uint32_t sum = ~plain_sum(behind);
  behind[offload.checksum_offset] = static_cast<std::uint8_t>(sum >> 8);
  behind[offload.checksum_offset + 1u] = static_cast<std::uint8_t>(sum);
}

/// Whether a receiver that trusts nothing would accept lengths and checksums.
/// REQUIRES: a packet like those of make_packet, its checksum complete.
inline bool is_valid(const Packet& packet) {
  const auto frame = frame_of(packet);
  const bool is_v4 = frame[14] >> 4 == 4;
  const std::size_t start = is_v4 ? 34 : 54;
  const std::uint8_t protocol = is_v4 ? frame[23] : frame[20];
  const auto transport = frame.subspan(start);
  if (is_v4 && plain_sum(frame.subspan(14, 20)) != 0xffff) return false;
  const std::size_t ip_bytes = is_v4 ? read16(frame, 16) : read16(frame, 18) + 40;
  if (ip_bytes + 14 != frame.size()) return false;
  if (protocol == 17 && read16(transport, 4) != transport.size()) return false;
  Packet summed = pseudo_header(frame, transport.size(), protocol);
  summed.insert(summed.end(), transport.begin(), transport.end());
  return plain_sum(summed) == 0xffff;
}

/// A packet that is not IP: a request of ARP.
inline Packet make_arp() {
  Packet packet(kOffloadBytes);
  packet.insert(packet.end(), 6, 0xff);
  packet.insert(packet.end(), {2, 0x77, 0, 0, 0, 1, 0x08, 0x06});
  packet.insert(packet.end(), 28, 1);
  return packet;
}

}  // namespace tw::fabric
