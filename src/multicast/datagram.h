// SPDX-License-Identifier: Apache-2.0
// What travels in a group: data, from its hub to all, and each member's answers. Numbers are in
// network byte order; group/sender.h and group/receiver.h say what they mean.
//
//   bytes 0-7    tag: the run's secret for this group
//   bytes 8-15   data: the packet's number; answer: the first that is missing
//   bytes 16-19  the sending that it is, or that is answered
//   bytes 20-21  data: 0; answer: the member that speaks
//   byte  22     1 data, 2 data that asks for an answer, 3 answer
//   byte  23     zero
//   then         data: payload; answer: 4 + 4 bytes, the packets [first, end) that are there beyond
//                the first missing one, counted from it

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tw::multicast {

inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kAnswerBytes = kHeaderBytes + 8;

using Tag = std::uint64_t;

struct Data {
  std::int64_t number = 0;
  std::uint32_t sending = 0;
  bool asks = false;
  bool operator==(const Data&) const = default;
};

struct Answer {
  int member = 0;
  std::int64_t next = 0;
  std::uint32_t sending = 0;
  std::uint32_t first = 0;
  std::uint32_t end = 0;  ///< 0: nothing beyond
  bool operator==(const Answer&) const = default;
};

std::array<std::byte, kHeaderBytes> encode(const Data& data, Tag tag);
std::array<std::byte, kAnswerBytes> encode(const Answer& answer, Tag tag);

/// Nothing unless it is whole and has the tag. Data's payload is what follows the header.
std::optional<Data> decode_data(std::span<const std::byte> datagram, Tag tag);
std::optional<Answer> decode_answer(std::span<const std::byte> datagram, Tag tag);

}  // namespace tw::multicast
