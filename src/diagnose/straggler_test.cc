// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/straggler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace tw::diagnose {
namespace {

// Six hosts, the link out of 3 is slow: 1, 4 and 0 follow it and begin when they have computed; 2
// and 5 are ahead of it.
TEST(RingStarters, AreTheHostsAfterTheSlowLinkAndExcuseThoseThatAreAhead) {
  const std::vector<int> order{5, 3, 1, 4, 0, 2};
  const std::vector<Starter> starters = ring_starters(order, 3, 0.1);
  ASSERT_EQ(starters.size(), 5);
  const std::vector<int> hosts{1, 4, 0, 2, 5};
  const std::vector<double> explained{0, 0, 0, 0.2, 0.2};
  for (std::size_t i = 0; i < starters.size(); ++i) {
    EXPECT_EQ(starters[i].host, hosts[i]);
    EXPECT_DOUBLE_EQ(starters[i].explained_s, explained[i]);
  }
}

constexpr std::int64_t kMs = 1'000'000;

struct Scene {
  rhythm::Steps exchanges = {};
  std::vector<rhythm::Channel> channels = {};
  gather::Captured traffic = {};
};

/// A lane that sends for 1 ms at each of these times in every step of 200 ms, and whose beats are
/// cut to begin and end at `cut_ms`.
void add_lane(Scene& scene, int from, int to, const std::vector<std::int64_t>& at_ms,
              rhythm::Interval cut_ms) {
  flow::Flow flow{};
  flow.key = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), 4000, 5000, 6};
  rhythm::Lane lane{
      .from = from, .to = to, .channel = scene.channels.size(), .bytes = 2, .beats = {}};
  for (const rhythm::ExchangeStep& step : scene.exchanges.steps) {
    for (const std::int64_t ms : at_ms) {
      const std::int64_t start = step.start_ns + ms * kMs;
      flow.bursts.push_back({start, start + kMs, 1000, 1});
    }
    lane.beats.push_back(rhythm::Beat{step.start_ns + cut_ms.start_ns * kMs,
                                      step.start_ns + cut_ms.end_ns * kMs, 2000, 0, 1, true});
  }
  scene.traffic.flows.push_back(std::move(flow));
  scene.channels.push_back(
      {.from = from, .to = to, .flows = {lane.channel}, .bursts = {}, .bytes = 2000});
  scene.exchanges.lanes.push_back(std::move(lane));
}

// Two hosts send when they have computed and again 100 ms later, when the third has: 99 ms of
// silence twice. The third sends everything then, after 199 ms. The beats of the two are cut at the
// wrong one of their pauses, so that they seem to begin before they have received.
TEST(Straggler, IsSilentForLongestWhereStepsAreCutInTheirMiddle) {
  Scene scene;
  scene.exchanges.tempo.period_ns = 200.0 * kMs;
  for (std::int64_t step = 1; step <= 8; ++step) {
    const std::int64_t start = step * 200 * kMs;
    scene.exchanges.steps.push_back({start, start + 101 * kMs, 12'000});
  }
  for (const int from : {0, 1, 2}) {
    for (const int to : {0, 1, 2}) {
      if (from == to) continue;
      if (from == 2) {
        add_lane(scene, from, to, {100}, {100, 101});
      } else {
        add_lane(scene, from, to, {0, 100}, {-100, 1});
      }
    }
  }
  const std::vector<Starter> starters{{0}, {1}, {2}};
  const auto late = find_straggler(scene.exchanges, scene.channels, scene.traffic, starters);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->host, 2);
  EXPECT_NEAR(late->delay_s, 0.1, 1e-6);
}

/// A lane that sends from `begins_ms` until `ends_ms` of each step.
void add_steps(Scene& scene, int from, int to, const std::vector<std::int64_t>& begins_ms,
               const std::vector<std::int64_t>& ends_ms) {
  flow::Flow flow{};
  flow.key = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), 4000, 5000, 6};
  rhythm::Lane lane{
      .from = from, .to = to, .channel = scene.channels.size(), .bytes = 2, .beats = {}};
  for (std::size_t i = 0; i < begins_ms.size(); ++i) {
    flow.bursts.push_back({begins_ms[i] * kMs, ends_ms[i] * kMs, 1000, 1});
    lane.beats.push_back(rhythm::Beat{begins_ms[i] * kMs, ends_ms[i] * kMs, 1000, i, i + 1, true});
  }
  scene.traffic.flows.push_back(std::move(flow));
  scene.channels.push_back(
      {.from = from, .to = to, .flows = {lane.channel}, .bursts = {}, .bytes = 1000});
  scene.exchanges.lanes.push_back(std::move(lane));
}

// A program that pauses for long between some steps: host 1 begins 2 ms after host 0 in each, and what it does in the first
// is not known. Medians of the steps that are known of each would be 20 and 2 ms.
TEST(Straggler, IsComparedOverTheStepsThatAreKnownOfBoth) {
  Scene scene;
  scene.exchanges.tempo.period_ns = 132.0 * kMs;
  std::vector<std::int64_t> first{1000};
  std::vector<std::int64_t> second{1002};
  std::vector<std::int64_t> ends{1100};
  for (const std::int64_t pause_ms : {2, 34, 2, 2, 81}) {
    first.push_back(ends.back() + pause_ms);
    second.push_back(first.back() + 2);
    ends.push_back(first.back() + 100);
  }
  for (std::size_t i = 0; i < ends.size(); ++i)
    scene.exchanges.steps.push_back({first[i] * kMs, ends[i] * kMs, 2000});
  add_steps(scene, 0, 1, first, ends);
  add_steps(scene, 1, 0, second, ends);
  scene.exchanges.lanes[0].beats[0].reset();
  const std::vector<Starter> starters{{0}, {1}};
  EXPECT_FALSE(find_straggler(scene.exchanges, scene.channels, scene.traffic, starters));
}

// Of steps that are unlike medians differ where a host is late in one of them alone.
TEST(Straggler, IsLateInMostStepsByWhatIsSaid) {
  Scene scene;
  scene.exchanges.tempo.period_ns = 132.0 * kMs;
  std::vector<std::int64_t> first{1000};
  std::vector<std::int64_t> second{1002};
  std::vector<std::int64_t> ends{1400};
  const std::vector<std::pair<std::int64_t, std::int64_t>> pauses_ms{
      {4, 270}, {50, 52}, {3, 4}, {2, 3}, {110, 113}};
  for (const auto& [one, other] : pauses_ms) {
    first.push_back(ends.back() + one);
    second.push_back(ends.back() + other);
    ends.push_back(ends.back() + 400);
  }
  for (std::size_t i = 0; i < ends.size(); ++i)
    scene.exchanges.steps.push_back({first[i] * kMs, ends[i] * kMs, 2000});
  add_steps(scene, 0, 1, first, ends);
  add_steps(scene, 1, 0, second, ends);
  const std::vector<Starter> starters{{0}, {1}};
  EXPECT_FALSE(find_straggler(scene.exchanges, scene.channels, scene.traffic, starters));
}

}  // namespace
}  // namespace tw::diagnose
