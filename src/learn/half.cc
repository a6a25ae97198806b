// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/half.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tw::learn {
namespace {

constexpr float kLargestHalf = 65504;

/// What is converted at a time.
constexpr std::size_t kBlock = 1024;

void widen_plainly(const std::uint16_t* halves, float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = from_half(halves[i]);
}

void narrow_plainly(const float* values, std::uint16_t* halves, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    halves[i] = to_half(std::clamp(values[i], -kLargestHalf, kLargestHalf));
  }
}

#if defined(__x86_64__)
[[gnu::target("f16c,avx")]] void widen_eight(const std::uint16_t* halves, float* values,
                                             std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m128i some;
    std::memcpy(&some, halves + i, sizeof some);
    _mm256_storeu_ps(values + i, _mm256_cvtph_ps(some));
  }
  widen_plainly(halves + i, values + i, count - i);
}

[[gnu::target("f16c,avx")]] void narrow_eight(const float* values, std::uint16_t* halves,
                                              std::size_t count) {
  const __m256 most = _mm256_set1_ps(kLargestHalf);
  const __m256 least = _mm256_set1_ps(-kLargestHalf);
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 some = _mm256_min_ps(_mm256_max_ps(_mm256_loadu_ps(values + i), least), most);
    const __m128i narrow = _mm256_cvtps_ph(some, _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(halves + i, &narrow, sizeof narrow);
  }
  narrow_plainly(values + i, halves + i, count - i);
}

/// Every processor with AVX2 has F16C, whose name not all compilers know here.
bool has_converter() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

void widen(const std::uint16_t* halves, float* values, std::size_t count) {
  has_converter() ? widen_eight(halves, values, count) : widen_plainly(halves, values, count);
}

/// What is too large becomes the largest.
void narrow(const float* values, std::uint16_t* halves, std::size_t count) {
  has_converter() ? narrow_eight(values, halves, count) : narrow_plainly(values, halves, count);
}
#else
void widen(const std::uint16_t* halves, float* values, std::size_t count) {
  widen_plainly(halves, values, count);
}

/// What is too large becomes the largest.
void narrow(const float* values, std::uint16_t* halves, std::size_t count) {
  narrow_plainly(values, halves, count);
}
#endif

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
  std::array<float, kBlock> scaled = {};
  std::array<std::uint16_t, kBlock> halves = {};
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    const std::size_t some = std::min(kBlock, values.size() - first);
    for (std::size_t i = 0; i < some; ++i) scaled[i] = values[first + i] * kHalfScale;
    narrow(scaled.data(), halves.data(), some);
    if (some % 2 == 1) halves[some] = 0;
    std::memcpy(words.data() + first / 2, halves.data(), (some + 1) / 2 * sizeof(float));
  }
}

void unpack_halves(std::span<const float> words, std::span<float> values) {
  check(words.size() == (values.size() + 1) / 2, "two halves fit into a word");
  std::array<std::uint16_t, kBlock> halves = {};
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    const std::size_t some = std::min(kBlock, values.size() - first);
    std::memcpy(halves.data(), words.data() + first / 2, some * sizeof halves[0]);
    widen(halves.data(), values.data() + first, some);
    for (std::size_t i = 0; i < some; ++i) values[first + i] *= 1 / kHalfScale;
  }
}

void add_halves(float* into, const std::byte* from, std::size_t count) {
  std::array<std::uint16_t, kBlock> halves = {};
  std::array<float, kBlock> sums = {};
  std::array<float, kBlock> more = {};
  for (std::size_t first = 0; first < count; first += kBlock / 2) {
    const std::size_t some = 2 * std::min(kBlock / 2, count - first);
    std::memcpy(halves.data(), into + first, some * sizeof halves[0]);
    widen(halves.data(), sums.data(), some);
    std::memcpy(halves.data(), from + sizeof(float) * first, some * sizeof halves[0]);
    widen(halves.data(), more.data(), some);
    for (std::size_t i = 0; i < some; ++i) sums[i] += more[i];
    narrow(sums.data(), halves.data(), some);
    std::memcpy(into + first, halves.data(), some * sizeof halves[0]);
  }
}

}  // namespace tw::learn
