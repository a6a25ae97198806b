// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tw::learn {
namespace {

TEST(Half, ComesBackFromAFloatAsItWas) {
  for (int i = 0; i < 0x10000; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const float value = from_half(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(to_half(value), half);
  }
}

TEST(Half, IsTheNearestAndOfTwoTheEvenOne) {
  EXPECT_EQ(from_half(to_half(1.0f)), 1.0f);
  // Between 1 and 2 a step is 2^-10.
  EXPECT_EQ(from_half(to_half(1.0f + 0x1p-11f)), 1.0f);
  EXPECT_EQ(from_half(to_half(1.0f + 0x1.8p-10f)), 1.0f + 0x1p-9f);
  EXPECT_EQ(from_half(to_half(0x1p-24f)), 0x1p-24f);
  EXPECT_EQ(from_half(to_half(0x1p-26f)), 0.0f);
  EXPECT_EQ(from_half(to_half(65504.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(from_half(to_half(70000.0f))));
  EXPECT_TRUE(std::isnan(from_half(to_half(NAN))));
}

TEST(Halves, TravelTwoToAWordAndAreAddedThere) {
  const std::vector<float> values{1e-4f, -0.5f, 3.0f};
  std::vector<float> words(2);
  pack_halves(values, words);
  std::vector<float> more(2);
  pack_halves(std::vector<float>{2e-4f, 0.25f, 1e9f}, more);
  add_halves(words.data(), std::as_bytes(std::span(more)).data(), words.size());
  std::vector<float> sums(3);
  unpack_halves(words, sums);
  EXPECT_NEAR(sums[0], 3e-4, 3e-7);
  EXPECT_EQ(sums[1], -0.25f);
  EXPECT_EQ(sums[2], 65504.0f / kHalfScale);
}

TEST(Halves, OfAnyNumberComeBackAsEachByItself) {
  for (const std::size_t count : {1u, 7u, 8u, 17u, 1024u, 1025u, 3000u}) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<float>(i % 2 == 0 ? 1 : -1) / static_cast<float>(3 * i + 1));
    }
    std::vector<float> words((count + 1) / 2);
    pack_halves(values, words);
    std::vector<float> back(count);
    unpack_halves(words, back);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(back[i], from_half(to_half(values[i] * kHalfScale)) / kHalfScale);
    }
    add_halves(words.data(), std::as_bytes(std::span(words)).data(), words.size());
    unpack_halves(words, back);
    EXPECT_EQ(back.back(), 2 * from_half(to_half(values.back() * kHalfScale)) / kHalfScale);
  }
}

}  // namespace
}  // namespace tw::learn
