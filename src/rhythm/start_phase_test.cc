// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/start_phase.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kGapNs = kMs / 2;
constexpr std::int64_t kSteps = 8;

/// Bursts of 100 kB, one every 10 ms, four to a step, after `before` of them that are no step.
Channel sender(int from, int to, std::int64_t before) {
  Channel channel{.from = from, .to = to, .flows = {}, .bursts = {}, .bytes = 0};
  for (std::int64_t i = -before; i < 4 * kSteps; ++i) {
    channel.bursts.push_back({10 * i * kMs, (10 * i + 2) * kMs, 100'000, 70});
    channel.bytes += 100'000;
  }
  return channel;
}

/// Beats of four bursts each, counted from the first burst, which is right only where it begins a
/// step.
Tempo beats_of(const std::vector<Channel>& channels) {
  Tempo tempo{.period_ns = 40e6, .share = 1, .dominance = 1, .ratio = 1, .members = {}};
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const std::vector<flow::Burst>& bursts = channels[c].bursts;
    Member member{.channel = c, .bytes = 400'000, .beats = {}};
    for (std::size_t first = 0; first + 4 <= bursts.size(); first += 4) {
      member.beats.push_back(
          {bursts[first].start_ns, bursts[first + 3].end_ns, 400'000, first, first + 4, true});
    }
    tempo.members.push_back(std::move(member));
  }
  return tempo;
}

// Host 0 sent 200 kB before training: its beats seem to begin two bursts before the steps, when it
// has not received the step before.
TEST(WithStartPhases, MovesTheBeatsOfWhoSentSomethingElseFirst) {
  const std::vector<Channel> channels{sender(0, 1, 2), sender(1, 2, 0), sender(2, 0, 0)};
  const Tempo tempo = beats_of(channels);
  const auto moved = with_start_phases(tempo, align(tempo, channels), channels, kGapNs);
  ASSERT_TRUE(moved);
  ASSERT_EQ(moved->members[0].beats.size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(moved->members[0].beats[0].first_burst, 2);
  EXPECT_EQ(moved->members[0].beats[0].start_ns, 0);
  EXPECT_EQ(moved->members[1].beats[0].start_ns, tempo.members[1].beats[0].start_ns);
}

TEST(WithStartPhases, LeavesSendersAloneThatSentNothingElse) {
  const std::vector<Channel> channels{sender(0, 1, 0), sender(1, 2, 0), sender(2, 0, 0)};
  const Tempo tempo = beats_of(channels);
  EXPECT_FALSE(with_start_phases(tempo, align(tempo, channels), channels, kGapNs));
}

}  // namespace
}  // namespace tw::rhythm
