// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/time_scale.h"

#include <gtest/gtest.h>

namespace tw::capture {
namespace {

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
constexpr auto kMostTicks = std::numeric_limits<std::uint64_t>::max();

TEST(TimeScale, TurnsTicksOfAnyClockIntoNanoseconds) {
  EXPECT_EQ(TimeScale(1'000'000'000).nanoseconds(1'234'567'891), 1'234'567'891);
  EXPECT_EQ(TimeScale(1'000'000).nanoseconds(7), 7000);
  EXPECT_EQ(TimeScale(1).nanoseconds(7), 7'000'000'000);
  // Picoseconds and binary fractions are rounded down: 1999 ps = 1 ns; 3/1024 s = 2,929,687.5 ns.
  EXPECT_EQ(TimeScale(1'000'000'000'000).nanoseconds(1999), 1);
  EXPECT_EQ(TimeScale(1024).nanoseconds(3), 2'929'687);
}

TEST(TimeScale, AddsItsOffset) {
  EXPECT_EQ(TimeScale(1'000'000, 10).nanoseconds(1), 10'000'001'000);
  EXPECT_EQ(TimeScale(1'000'000, -10).nanoseconds(1), -9'999'999'000);
  EXPECT_EQ(TimeScale(1024, 10).nanoseconds(1024), 11'000'000'000);
}

TEST(TimeScale, ClampsWhatDoesNotFit) {
  EXPECT_EQ(TimeScale(1).nanoseconds(kMostTicks), kMost);
  EXPECT_EQ(TimeScale(1'000'000'000).nanoseconds(kMostTicks), kMost);
  EXPECT_EQ(TimeScale(1'000'000, kMost).nanoseconds(0), kMost);
  EXPECT_EQ(TimeScale(1'000'000, std::numeric_limits<std::int64_t>::min()).nanoseconds(5),
            std::numeric_limits<std::int64_t>::min());
}

TEST(TimeScale, IsExactOnBothSidesOfItsShortCut) {
  // The short cut ends at half of the range: 2^62 ns.
  const TimeScale scale(1'000'000'000);
  const std::uint64_t edge = std::uint64_t{1} << 62;
  for (const std::uint64_t ticks : {edge - 2, edge - 1, edge, edge + 1}) {
    EXPECT_EQ(scale.nanoseconds(ticks), static_cast<std::int64_t>(ticks));
  }
}

TEST(TimeScale, GivesTicksBack) {
  for (const std::int64_t per_second : {1'000'000'000LL, 1'000'000LL, 1024LL, 1LL << 32}) {
    const TimeScale scale(per_second);
    const std::uint64_t ticks = 1'700'000'000ULL * static_cast<std::uint64_t>(per_second);
    EXPECT_EQ(scale.ticks(scale.nanoseconds(ticks)), ticks) << per_second;
  }
  EXPECT_EQ(TimeScale(1'000'000).ticks(-1), 0u);
  EXPECT_EQ(TimeScale(std::int64_t{1} << 62).ticks(kMost), kMostTicks);
}

TEST(Resolution, ReadsPowersOfTenAndTwo) {
  EXPECT_EQ(ticks_per_second_of(6), 1'000'000);
  EXPECT_EQ(ticks_per_second_of(9), 1'000'000'000);
  EXPECT_EQ(ticks_per_second_of(0x80 | 10), 1024);
  EXPECT_EQ(ticks_per_second_of(0), 1);
  EXPECT_EQ(ticks_per_second_of(19), std::nullopt);
  EXPECT_EQ(ticks_per_second_of(0x80 | 63), std::nullopt);
}

TEST(Resolution, HasACodeForPowersOnly) {
  EXPECT_EQ(resolution_code(1'000'000), 6);
  EXPECT_EQ(resolution_code(1024), 0x80 | 10);
  EXPECT_EQ(resolution_code(3), std::nullopt);
}

}  // namespace
}  // namespace tw::capture
