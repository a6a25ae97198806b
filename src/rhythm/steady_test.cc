// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/steady.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tw::rhythm {
namespace {

/// A burst every `period_ms`, for one second.
Channel every(std::int64_t period_ms) {
  Channel channel{.from = 0, .to = 1, .flows = {}, .bursts = {}, .bytes = 0};
  for (std::int64_t at = 0; at < 1'000; at += period_ms) {
    channel.bursts.push_back(
        {.start_ns = at * 1'000'000, .end_ns = at * 1'000'000, .bytes = 1'000, .packets = 1});
    channel.bytes += 1'000;
  }
  return channel;
}

// Three channels pause for 100 ms, one never for more than 20.
TEST(WithoutSteady, LeavesOutWhatSendsWhileTheOthersPause) {
  const auto calm = without_steady(std::vector{every(100), every(20), every(100), every(100)});
  ASSERT_TRUE(calm);
  ASSERT_EQ(calm->size(), 3);
  for (const Channel& channel : *calm) EXPECT_EQ(channel.bursts.size(), 10);
}

// Several short pauses inside a step do not make a channel steady: the long ones are most of its
// silence.
TEST(WithoutSteady, KeepsChannelsThatPauseInsideStepsToo) {
  Channel rounds = every(100);
  for (std::int64_t at = 0; at < 1'000; at += 100) {
    const std::int64_t start = (at + 5) * 1'000'000;
    rounds.bursts.push_back({.start_ns = start, .end_ns = start, .bytes = 1'000, .packets = 1});
  }
  std::sort(rounds.bursts.begin(), rounds.bursts.end(),
            [](const flow::Burst& a, const flow::Burst& b) { return a.start_ns < b.start_ns; });
  EXPECT_FALSE(without_steady(std::vector{every(100), rounds, every(100)}));
}

TEST(WithoutSteady, HasNothingToSayOfNoChannels) { EXPECT_FALSE(without_steady({})); }

}  // namespace
}  // namespace tw::rhythm
