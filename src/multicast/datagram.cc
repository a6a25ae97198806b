// SPDX-License-Identifier: Apache-2.0
#include "trainwire/multicast/datagram.h"

#include <limits>

namespace tw::multicast {
namespace {

enum Kind : std::uint8_t { kData = 1, kAsking = 2, kAnswer = 3 };

template <std::size_t Bytes>
void put(std::span<std::byte> into, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < Bytes; ++i) {
    into[at + i] = static_cast<std::byte>(value >> (8 * (Bytes - 1 - i)));
  }
}

template <std::size_t Bytes>
std::uint64_t take(std::span<const std::byte> from, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < Bytes; ++i) {
    value = value << 8 | std::to_integer<std::uint64_t>(from[at + i]);
  }
  return value;
}

void put_header(std::span<std::byte> into, Tag tag, std::int64_t number, std::uint32_t sending,
                int member, Kind kind) {
  put<8>(into, 0, tag);
  put<8>(into, 8, static_cast<std::uint64_t>(number));
  put<4>(into, 16, sending);
  put<2>(into, 20, static_cast<std::uint64_t>(member));
  put<1>(into, 22, kind);
}

/// Whether it is of the group, and its number is one.
bool is_ours(std::span<const std::byte> datagram, Tag tag) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return datagram.size() >= kHeaderBytes && take<8>(datagram, 0) == tag &&
         take<8>(datagram, 8) <= kMost && take<1>(datagram, 23) == 0;
}

}  // namespace

std::array<std::byte, kHeaderBytes> encode(const Data& data, Tag tag) {
  std::array<std::byte, kHeaderBytes> bytes = {};
  put_header(bytes, tag, data.number, data.sending, 0, data.asks ? kAsking : kData);
  return bytes;
}

std::array<std::byte, kAnswerBytes> encode(const Answer& answer, Tag tag) {
  std::array<std::byte, kAnswerBytes> bytes = {};
  put_header(bytes, tag, answer.next, answer.sending, answer.member, kAnswer);
  put<4>(bytes, 24, answer.first);
  put<4>(bytes, 28, answer.end);
  return bytes;
}

std::optional<Data> decode_data(std::span<const std::byte> datagram, Tag tag) {
  if (!is_ours(datagram, tag) || datagram.size() == kHeaderBytes) return {};
  const std::uint64_t kind = take<1>(datagram, 22);
  if ((kind != kData && kind != kAsking) || take<2>(datagram, 20) != 0) return {};
  return Data{.number = static_cast<std::int64_t>(take<8>(datagram, 8)),
              .sending = static_cast<std::uint32_t>(take<4>(datagram, 16)),
              .asks = kind == kAsking};
}

std::optional<Answer> decode_answer(std::span<const std::byte> datagram, Tag tag) {
  if (datagram.size() != kAnswerBytes || !is_ours(datagram, tag)) return {};
  if (take<1>(datagram, 22) != kAnswer) return {};
  const Answer answer{.member = static_cast<int>(take<2>(datagram, 20)),
                      .next = static_cast<std::int64_t>(take<8>(datagram, 8)),
                      .sending = static_cast<std::uint32_t>(take<4>(datagram, 16)),
                      .first = static_cast<std::uint32_t>(take<4>(datagram, 24)),
                      .end = static_cast<std::uint32_t>(take<4>(datagram, 28))};
  if (answer.first > answer.end) return {};
  return answer;
}

}  // namespace tw::multicast
