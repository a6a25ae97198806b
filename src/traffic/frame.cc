// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/frame.h"

#include <algorithm>
#include <string_view>

namespace tw::traffic {
namespace {

constexpr std::string_view kMagic = "twt1";
constexpr std::size_t kKindAt = 4;
constexpr std::size_t kNumberAt = 8;
constexpr std::size_t kSizeAt = 16;
constexpr std::size_t kTokenAt = 24;

void put(std::span<std::byte> into, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i) into[i] = static_cast<std::byte>(number >> (56 - 8 * i));
}

std::uint64_t get(std::span<const std::byte> from) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    number = (number << 8) | std::to_integer<std::uint64_t>(from[i]);
  }
  return number;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::byte difference{};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{};
}

bool is_known(std::byte kind) {
  return kind >= static_cast<std::byte>(FrameKind::Flow) &&
         kind <= static_cast<std::byte>(FrameKind::Greeting);
}

}  // namespace

FrameBytes encode(const Frame& frame, const transport::tcp::Token& token) {
  FrameBytes bytes = {};
  const std::span<std::byte> all(bytes);
  std::copy_n(reinterpret_cast<const std::byte*>(kMagic.data()), kMagic.size(), bytes.begin());
  bytes[kKindAt] = static_cast<std::byte>(frame.kind);
  put(all.subspan(kNumberAt), frame.number);
  put(all.subspan(kSizeAt), frame.size);
  std::copy(token.begin(), token.end(), bytes.begin() + kTokenAt);
  return bytes;
}

std::optional<Frame> decode(std::span<const std::byte, kFrameBytes> bytes,
                            const transport::tcp::Token& token) {
  const auto magic = std::as_bytes(std::span(kMagic.data(), kMagic.size()));
  const bool known = same(bytes.first(kMagic.size()), magic);
  const bool trusted = same(bytes.subspan(kTokenAt), token);
  if (!known || !trusted || !is_known(bytes[kKindAt])) return {};
  return Frame{.kind = static_cast<FrameKind>(bytes[kKindAt]),
               .number = get(bytes.subspan(kNumberAt)),
               .size = get(bytes.subspan(kSizeAt))};
}

AnswerBytes encode_answer(std::uint64_t value) {
  AnswerBytes bytes = {};
  put(bytes, value);
  return bytes;
}

std::uint64_t decode_answer(std::span<const std::byte, kAnswerBytes> bytes) { return get(bytes); }

}  // namespace tw::traffic
