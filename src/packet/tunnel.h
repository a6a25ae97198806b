// SPDX-License-Identifier: Apache-2.0
// Packets that carry packets: where the inner one begins.
//
// VXLAN (RFC 7348; ports 4789 and Linux's 8472), Geneve (RFC 8926; port 6081), GRE (RFC 2784, 2890) with IP or Ethernet
// inside, also as switches mirror by it (ERSPAN I and II), IP in IP (RFC 2003, 4213).
//
// Limits: headers alone are looked at; whether the inner packet is one is for the decoder to say, which keeps the outer
// one where it is not. Encrypted tunnels stay what they are.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tw::packet {

inline constexpr std::uint16_t kVxlanPort = 4789;
inline constexpr std::uint16_t kLinuxVxlanPort = 8472;
inline constexpr std::uint16_t kGenevePort = 6081;
/// "Transparent Ethernet bridging": a whole frame follows.
inline constexpr std::uint16_t kWholeFrame = 0x6558;

struct Carried {
  std::uint16_t ethertype;  ///< or kWholeFrame
  std::size_t offset;       ///< in the bytes that were given
  bool operator==(const Carried&) const = default;
};

/// By what a datagram to `port` begins with; nothing where that is no tunnel.
std::optional<Carried> carried_by_udp(std::uint16_t port, std::span<const std::byte> payload);

/// By what an IP packet of `protocol` begins with behind its header.
std::optional<Carried> carried_by_ip(std::uint8_t protocol, std::span<const std::byte> payload);

}  // namespace tw::packet
