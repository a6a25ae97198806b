// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/half.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tw::learn {
namespace {

constexpr float kLargestHalf = 65504;

std::uint16_t sent(float value) {
  return to_half(std::clamp(value * kHalfScale, -kLargestHalf, kLargestHalf));
}

std::uint32_t pair_of(std::uint16_t low, std::uint16_t high) {
  return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
}

std::uint16_t low_of(std::uint32_t word) { return static_cast<std::uint16_t>(word); }
std::uint16_t high_of(std::uint32_t word) { return static_cast<std::uint16_t>(word >> 16); }

std::uint16_t sum(std::uint16_t a, std::uint16_t b) {
  return to_half(std::clamp(from_half(a) + from_half(b), -kLargestHalf, kLargestHalf));
}

}  // namespace

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // not a number
  if (magnitude >= 0x47800000) return sign | 0x7c00;  // from 65536 on
  if (magnitude < 0x38800000) {
    // Below 2^-14: the float's own rounding at 0.5, whose last bit is 2^-24, does it.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }
  const std::uint32_t odd = magnitude >> 13 & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
}

float from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = half & 0x7fff;
  std::uint32_t bits = 0;
  if (magnitude >= 0x7c00) {
    bits = 0x7f800000 | (magnitude & 0x3ff) << 13;
  } else if (magnitude >= 0x400) {
    bits = (magnitude << 13) + 0x38000000;
  } else {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  }
  return std::bit_cast<float>(sign | bits);
}

void pack_halves(std::span<const float> values, std::span<float> words) {
  check(words.size() == (values.size() + 1) / 2, "two halves fit into a word");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const float second = 2 * i + 1 < values.size() ? values[2 * i + 1] : 0.0f;
    words[i] = std::bit_cast<float>(pair_of(sent(values[2 * i]), sent(second)));
  }
}

void unpack_halves(std::span<const float> words, std::span<float> values) {
  check(words.size() == (values.size() + 1) / 2, "two halves fit into a word");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto word = std::bit_cast<std::uint32_t>(words[i / 2]);
    values[i] = from_half(i % 2 == 0 ? low_of(word) : high_of(word)) / kHalfScale;
  }
}

void add_halves(float* into, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::memcpy(&a, into + i, sizeof a);
    std::memcpy(&b, from + sizeof b * i, sizeof b);
    a = pair_of(sum(low_of(a), low_of(b)), sum(high_of(a), high_of(b)));
    std::memcpy(into + i, &a, sizeof a);
  }
}

}  // namespace tw::learn
