// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/logged_tempo.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kGapNs = kMs / 2;

/// 24 bursts of 100 kB, one every 10 ms, without anything that tells steps from rounds.
Channel even_channel(int from, int to) {
  Channel channel{.from = from, .to = to, .flows = {}, .bursts = {}, .bytes = 2'400'000};
  for (std::int64_t i = 0; i < 24; ++i) {
    channel.bursts.push_back({10 * i * kMs, (10 * i + 2) * kMs, 100'000, 70});
  }
  return channel;
}

/// Steps of 60 ms of two ranks, the second 3 ms behind, from `begin_ms` on.
imports::StepLog log_of(int steps, std::int64_t begin_ms) {
  imports::StepLog log{.format = "csv", .steps = {}};
  for (const int rank : {0, 1}) {
    for (int step = 0; step < steps; ++step) {
      const std::int64_t start = begin_ms + 60 * step + 3 * rank;
      log.steps.push_back({rank, step, start * kMs, (start + 57) * kMs});
    }
  }
  return log;
}

TEST(LoggedTempo, HasTheBytesOfTheStepsThatTheLogTells) {
  const std::vector<Channel> channels{even_channel(0, 1), even_channel(1, 0)};
  const auto tempo = logged_tempo(log_of(4, -5), channels, kGapNs);
  ASSERT_TRUE(tempo);
  ASSERT_EQ(tempo->members.size(), 2);
  // Six bursts of 10 ms are a step of 60.
  EXPECT_EQ(tempo->members[0].bytes, 600'000);
  EXPECT_EQ(tempo->members[0].beats.size(), 4);
  EXPECT_NEAR(tempo->period_ns, 60e6, 1e6);
}

TEST(LoggedTempo, IsNoneOfALogThatLiesHoursBesideTheCapture) {
  const std::vector<Channel> channels{even_channel(0, 1), even_channel(1, 0)};
  EXPECT_FALSE(logged_tempo(log_of(4, 7'200'000), channels, kGapNs));
}

TEST(LoggedTempo, IsNoneOfTwoSteps) {
  const std::vector<Channel> channels{even_channel(0, 1), even_channel(1, 0)};
  EXPECT_FALSE(logged_tempo(log_of(2, -5), channels, kGapNs));
}

}  // namespace
}  // namespace tw::rhythm
