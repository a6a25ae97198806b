// SPDX-License-Identifier: Apache-2.0
// Half-precision numbers (IEEE 754 binary16), two to a 4-byte word, as gradients travel with gradient
// = "fp16".
//
// Gradients are small: they are multiplied by 1024 on the way, so that those down to 6e-8 keep all
// eleven bits. What would be too large becomes the largest number there is (64 after division), so that
// sums never become infinite.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tw::learn {

inline constexpr float kHalfScale = 1024;

/// To the nearest, ties to even; what is too large becomes infinite.
std::uint16_t to_half(float value);
float from_half(std::uint16_t half);

/// REQUIRES: words.size() == (values.size() + 1) / 2. An odd last half is zero.
void pack_halves(std::span<const float> values, std::span<float> words);
void unpack_halves(std::span<const float> words, std::span<float> values);

/// Adds halves to halves: `count` words of them, `from` need not be aligned.
void add_halves(float* into, const std::byte* from, std::size_t count);

}  // namespace tw::learn
