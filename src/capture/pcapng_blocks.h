// SPDX-License-Identifier: Apache-2.0
// The numbers of the pcapng format, shared by its reader and its writer.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tw::capture {

enum BlockType : std::uint32_t {
  kInterfaceDescription = 1,
  kObsoletePacket = 2,
  kSimplePacket = 3,
  kInterfaceStatistics = 5,
  kEnhancedPacket = 6,
  kSectionHeader = 0x0a0d0d0a,  // the same in either byte order
};

inline constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;

enum OptionCode : std::uint16_t {
  kEndOfOptions = 0,
  kInterfaceName = 2,
  kTimeResolution = 9,
  kTimeOffset = 14,
  kDropCount = 4,           // enhanced packet block
  kStatisticsReceived = 4,  // interface statistics block, and below
  kStatisticsDropped = 5,
  kStatisticsSystemDropped = 7,
};

/// Type and length in front, the length again behind.
inline constexpr std::size_t kBlockFrame = 12;

/// Blocks, packets and options are padded to four bytes.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

}  // namespace tw::capture
