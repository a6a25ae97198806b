// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/lockstep.h"

#include "trainwire/gather/hosts.h"
#include "trainwire/rhythm/test_jobs.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tw::rhythm {
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
  Steps exchanges{.lanes = {}, .steps = {{}, {}}, .tempo = {}};
  // Step 0: all overlap. Step 1: host 1 has received everything at 12, host 1 sends from 20 on.
  exchanges.lanes.push_back(lane(0, 1, {{0, 5}, {10, 12}}));
  exchanges.lanes.push_back(lane(1, 0, {{3, 8}, {20, 25}}));
  EXPECT_DOUBLE_EQ(broken_share(exchanges), 0.5);
}

// Hosts 1 and 2 give host 0 their parts; when it has both it sends them the result.
TEST(EarlyShare, DoesNotCountARootThatWaitsForTheOthers) {
  Steps exchanges{.lanes = {}, .steps = {{}}, .tempo = {}};
  exchanges.lanes.push_back(lane(1, 0, {{0, 5}}));
  exchanges.lanes.push_back(lane(2, 0, {{3, 8}}));
  exchanges.lanes.push_back(lane(0, 1, {{10, 15}}));
  exchanges.lanes.push_back(lane(0, 2, {{15, 20}}));
  EXPECT_DOUBLE_EQ(broken_share(exchanges), 1);
  EXPECT_DOUBLE_EQ(early_share(exchanges), 0);
}

// Host 1 has all that it gets at 5; host 2 sends from 6 on, and no part of it can be in there.
TEST(EarlyShare, CountsStepsInWhichAHostIsDoneBeforeAnotherBegins) {
  Steps exchanges{.lanes = {}, .steps = {{}}, .tempo = {}};
  exchanges.lanes.push_back(lane(0, 1, {{0, 5}}));
  exchanges.lanes.push_back(lane(1, 2, {{0, 8}}));
  exchanges.lanes.push_back(lane(2, 0, {{6, 9}}));
  EXPECT_DOUBLE_EQ(early_share(exchanges), 1);
}

TEST(RingSteps, LeavesWholeStepsAlone) {
  const gather::Captured traffic = play({.strategy = "ring", .placement = {0, 1, 2, 3}});
  const auto channels = flow_channels(traffic, gather::host_table(traffic, {}).host_of);
  const auto tempos = find_tempos(channels, traffic.burst_gap_ns);
  ASSERT_FALSE(tempos.empty());
  EXPECT_DOUBLE_EQ(broken_share(align(tempos[0], channels)), 0);
  EXPECT_FALSE(ring_steps(tempos[0], channels, 4));
}

/// One of two hosts sends, the other answers with as much, every 100 ms.
std::vector<Channel> dialogue() {
  Channel request{.from = 0, .to = 1, .flows = {}, .bursts = {}, .bytes = 0};
  Channel answer{.from = 1, .to = 0, .flows = {}, .bursts = {}, .bytes = 0};
  for (std::int64_t start = 0; start < 1'000'000'000; start += 100'000'000) {
    request.bursts.push_back({start, start + 10'000'000, 1'000'000, 700});
    answer.bursts.push_back({start + 12'000'000, start + 22'000'000, 1'000'000, 700});
    request.bytes += 1'000'000;
    answer.bytes += 1'000'000;
  }
  return {request, answer};
}

// The law is broken in every exchange, and two of them together would keep it: the second request
// comes after the first answer. But a ring of two is not late in the same place in both its rounds.
TEST(RingSteps, LeavesAnswersAlone) {
  const std::vector<Channel> channels = dialogue();
  const auto tempos = find_tempos(channels, 500'000);
  ASSERT_FALSE(tempos.empty());
  EXPECT_DOUBLE_EQ(broken_share(align(tempos[0], channels)), 1);
  EXPECT_FALSE(ring_steps(tempos[0], channels, 2));
}

/// Two hosts send each other a megabyte every 100 ms and wait for nothing but the other's: who is late has the other's all before
/// it begins. `pause_ms` is between the first and the second of two, and what is left of 200 ms before the next two.
std::vector<Channel> exchanges_of_two(std::int64_t pause_ms) {
  Channel there{
      .from = 0, .to = 1, .flows = {}, .bursts = {}, .bytes = 0, .round_trip_ns = 100'000};
  Channel back{.from = 1, .to = 0, .flows = {}, .bursts = {}, .bytes = 0, .round_trip_ns = 100'000};
  for (std::int64_t i = 0; i < 24; ++i) {
    const std::int64_t start = (i / 2 * 200 + i % 2 * pause_ms) * 1'000'000;
    const std::int64_t late = i % 3 == 0 ? 3'000'000 : 100'000;
    there.bursts.push_back({start, start + 2'000'000, 1'000'000, 700});
    back.bursts.push_back({start + late, start + late + 2'000'000, 1'000'000, 700});
    there.bytes += 1'000'000;
    back.bytes += 1'000'000;
  }
  return {there, back};
}

// Two exchanges together would keep the law; but both hosts compute as long before each.
TEST(RingSteps, LeavesExchangesAloneBeforeEachOfWhichAllCompute) {
  const std::vector<Channel> alike = exchanges_of_two(100);
  const auto tempos = find_tempos(alike, 500'000);
  ASSERT_FALSE(tempos.empty());
  EXPECT_GT(broken_share(align(tempos[0], alike)), 0.3);
  EXPECT_NEAR(tempos[0].period_ns, 1e8, 1e6);
  EXPECT_FALSE(ring_steps(tempos[0], alike, 2));
  // Rounds of a step follow one another at once.
  const std::vector<Channel> rounds = exchanges_of_two(6);
  const std::vector<ChannelDistance> of_rounds{{0, 1e6}, {1, 1e6}};
  const auto beats = tempo_at(rounds, of_rounds, 500'000);
  ASSERT_TRUE(beats);
  const auto steps = ring_steps(*beats, rounds, 2);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->steps.size(), 12);
}

struct Played {
  std::vector<Channel> channels;
  Steps exchanges;
};

/// The exchanges of a job in beats in which every channel sends so much.
Played exchanges_of(const PlayedJob& job, double bytes) {
  const gather::Captured traffic = play(job);
  Played result{.channels = flow_channels(traffic, gather::host_table(traffic, {}).host_of),
                .exchanges = {}};
  std::vector<ChannelDistance> distances;
  for (std::size_t i = 0; i < result.channels.size(); ++i) distances.push_back({i, bytes});
  if (auto tempo = tempo_at(result.channels, distances, traffic.burst_gap_ns)) {
    result.exchanges = align(std::move(*tempo), result.channels);
  }
  return result;
}

// A ring of 4 sends 6 MB a step, every host of a star (root or leaf) 4 MB on every edge. The root
// has received everything before it sends, which is no host that is done before another begins.
TEST(AreWhole, StepsWithAComputingPauseAfterEveryOne) {
  const std::vector<int> hosts{0, 1, 2, 3};
  const Played ring =
      exchanges_of({.strategy = "ring", .placement = hosts, .steps = 30, .rest_every = 10}, 6e6);
  ASSERT_EQ(ring.exchanges.steps.size(), 30);
  EXPECT_TRUE(are_whole(ring.exchanges, ring.channels, 10));
  const Played star =
      exchanges_of({.strategy = "star", .placement = hosts, .steps = 30, .rest_every = 10}, 4e6);
  ASSERT_EQ(star.exchanges.steps.size(), 30);
  EXPECT_TRUE(are_whole(star.exchanges, star.channels, 10));
}

// Rounds of 1 MB, six in a step. Where all compute equally long, nobody is done with a round before
// another begins it; but the silence after it, of 20 ms, is only data on its way.
TEST(AreWhole, NotRoundsThatTravelFar) {
  const Played rounds = exchanges_of(
      {.strategy = "ring", .placement = {0, 1, 2, 3}, .jitter = 0, .latency_s = 0.02}, 1e6);
  ASSERT_EQ(rounds.exchanges.steps.size(), 90);
  EXPECT_DOUBLE_EQ(early_share(rounds.exchanges), 0);
  EXPECT_FALSE(are_whole(rounds.exchanges, rounds.channels, 6));
}

// A host that begins 100 ms later than the others is later than their rounds of 1.6 ms.
TEST(AreWhole, NotRoundsThatAHostBeginsLate) {
  const Played rounds = exchanges_of(
      {.strategy = "ring", .placement = {0, 1, 2, 3}, .latency_s = 0.02, .straggler = 2}, 1e6);
  ASSERT_FALSE(rounds.exchanges.steps.empty());
  EXPECT_GT(early_share(rounds.exchanges), 0.1);
  EXPECT_FALSE(are_whole(rounds.exchanges, rounds.channels, 6));
}

}  // namespace
}  // namespace tw::rhythm
