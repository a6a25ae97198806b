// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/paced_rate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tw::diagnose {
namespace {

/// Trains of `bytes`, the next one `time_ns` after each; every third only after three times that.
std::vector<flow::Burst> trains(std::size_t count, std::uint64_t bytes, std::int64_t time_ns) {
  std::vector<flow::Burst> bursts;
  std::int64_t now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bursts.push_back({now, now, bytes, 4});
    now += i % 3 == 2 ? 3 * time_ns : time_ns;
  }
  return bursts;
}

TEST(PacedRate, IsThatOfMostTrainsHoweverOftenTheSenderWaits) {
  // 6,000 bytes in 0.6 ms are 80 Mbit/s; with the waits the mean is 48.
  const auto rate = paced_rate_bps(trains(900, 6000, 600'000));
  ASSERT_TRUE(rate);
  EXPECT_NEAR(*rate, 80e6, 1e3);
}

// Two of three trains have the rate, which is 14 of 21 and 40 of 60.
TEST(PacedRate, NeedsSomeTrainsThatAgree) {
  EXPECT_FALSE(paced_rate_bps(trains(22, 6000, 600'000)));
  EXPECT_TRUE(paced_rate_bps(trains(61, 6000, 600'000)));
}

TEST(PacedRate, IsUnknownWhereNoTwoTrainsHaveTheSame) {
  // 0.6 ms, then 1 % more each time: within 6 % lie six of 600 trains, a hundredth.
  std::vector<flow::Burst> bursts;
  double now = 0;
  double step = 600'000;
  for (int i = 0; i < 600; ++i, step *= 1.01) {
    bursts.push_back({static_cast<std::int64_t>(now), static_cast<std::int64_t>(now), 6000, 4});
    now += step;
  }
  EXPECT_FALSE(paced_rate_bps(bursts));
}

TEST(PacedRate, TakesNoLargeBurstForATrain) {
  EXPECT_FALSE(paced_rate_bps(trains(900, 200'000, 600'000)));
}

}  // namespace
}  // namespace tw::diagnose
