// SPDX-License-Identifier: Apache-2.0
// RDMA over converged Ethernet, version 2: InfiniBand transport packets in UDP (InfiniBand
// Architecture Specification, volume 1, chapter 9, and annex A17).

#pragma once

#include <cstddef>
#include <cstdint>

namespace tw::packet {

inline constexpr std::uint16_t kRocev2Port = 4791;
inline constexpr std::size_t kBaseTransportHeader = 12;

/// Bytes of the message that a packet carries: `udp_payload` less the base and extended headers
/// that `opcode` brings with it, `padding` and the invariant checksum. 0 for acknowledgements,
/// congestion notifications and opcodes that we do not know.
std::uint32_t rocev2_message_bytes(std::uint8_t opcode, unsigned padding,
                                   std::uint32_t udp_payload);

}  // namespace tw::packet
