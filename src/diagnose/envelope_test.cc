// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/envelope.h"

#include <gtest/gtest.h>

#include <limits>

namespace tw::diagnose {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(Envelope, IsTheMostThatEverPassesInATime) {
  flow::Series series;
  const std::uint32_t bytes[] = {100, 0, 500, 700, 0, 0, 600};
  for (std::uint32_t i = 0; i < 7; ++i) {
    if (bytes[i] > 0) series.add(i, bytes[i]);
  }
  const flow::Series* all[] = {&series};
  // 1,200 bytes in two neighbouring windows, 1,300 in four: 0 500 700 0 0 has 1,200, 100 0 500 700
  // has 1,300.
  EXPECT_DOUBLE_EQ(envelope_bps(all, kMillisecond, 1), 700 * 8e3);
  EXPECT_DOUBLE_EQ(envelope_bps(all, kMillisecond, 2), 1200 * 8e3 / 2);
  EXPECT_DOUBLE_EQ(envelope_bps(all, kMillisecond, 4), 1300 * 8e3 / 4);
}

TEST(Envelope, AddsUpWhatPassesTogether) {
  flow::Series one;
  flow::Series other;
  one.add(3, 1000);
  other.add(3, 500);
  other.add(4, 400);
  const flow::Series* all[] = {&one, &other};
  EXPECT_DOUBLE_EQ(envelope_bps(all, kMillisecond, 1), 1500 * 8e3);
  EXPECT_DOUBLE_EQ(envelope_bps(all, kMillisecond, 2), 1900 * 8e3 / 2);
}

// Times of a damaged capture may lie as far apart as windows can be counted.
TEST(Envelope, TakesTheLastWindowThatThereIs) {
  flow::Series series;
  series.add(0, 1000);
  series.add(std::numeric_limits<std::uint32_t>::max() - 1, 500);
  const flow::Series* all[] = {&series};
  EXPECT_DOUBLE_EQ(envelope_bps(all, kMillisecond, 20), 8e9 * 1000 / (20.0 * kMillisecond));
}

TEST(Envelope, OfNothingIsNothing) { EXPECT_EQ(envelope_bps({}, kMillisecond, 3), 0); }

}  // namespace
}  // namespace tw::diagnose
