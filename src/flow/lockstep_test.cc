// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/lockstep.h"

#include "trainwire/flow/hosts.h"
#include "trainwire/flow/test_jobs.h"

#include <gtest/gtest.h>

namespace tw::flow {
namespace {

/// Beats of one lane: [start, end] in ms.
Lane lane(int from, int to, std::vector<std::pair<int, int>> beats) {
  Lane result{.from = from, .to = to, .channel = 0, .bytes = 100, .beats = {}};
  for (const auto& [start, end] : beats) {
    result.beats.push_back(Beat{.start_ns = start * 1'000'000LL,
                                .end_ns = end * 1'000'000LL,
                                .bytes = 100,
                                .first_burst = 0,
                                .end_burst = 1,
                                .fits = true});
  }
  return result;
}

TEST(BrokenShare, CountsStepsThatAHostFinishesBeforeAnotherBegins) {
  Exchanges exchanges{.lanes = {}, .steps = {{}, {}}, .tempo = {}};
  // Step 0: all overlap. Step 1: host 1 has received everything at 12, host 1 sends from 20 on.
  exchanges.lanes.push_back(lane(0, 1, {{0, 5}, {10, 12}}));
  exchanges.lanes.push_back(lane(1, 0, {{3, 8}, {20, 25}}));
  EXPECT_DOUBLE_EQ(broken_share(exchanges), 0.5);
}

TEST(RingSteps, LeavesWholeStepsAlone) {
  const Traffic traffic = play({.strategy = "ring", .placement = {0, 1, 2, 3}});
  const auto channels = flow_channels(traffic, host_table(traffic, {}).host_of);
  const auto tempos = find_tempos(channels, traffic.burst_gap_ns);
  ASSERT_FALSE(tempos.empty());
  EXPECT_DOUBLE_EQ(broken_share(align(tempos[0], channels)), 0);
  EXPECT_FALSE(ring_steps(tempos[0], channels, 4));
}

}  // namespace
}  // namespace tw::flow
