// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/ring_rounds.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kGapNs = kMs / 2;

/// Logarithms of pauses as a sender has them that never sees a step: all alike but for noise.
std::vector<double> noise(std::size_t count, std::uint64_t seed) {
  Random random(seed, "pauses");
  std::vector<double> pauses;
  for (std::size_t i = 0; i < count; ++i) pauses.push_back(4 + 0.3 * random.normal());
  return pauses;
}

TEST(RepetitionCriterion, IsAgainstStepsInNoise) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    EXPECT_GT(repetition_criterion(noise(90, seed), 6, {}), 0) << seed;
  }
}

TEST(RepetitionCriterion, IsForStepsThatOnePauseInSixTells) {
  std::vector<double> pauses = noise(90, 1);
  for (std::size_t i = 2; i < pauses.size(); i += 6) pauses[i] += 1;
  // Noise of 0.3 and one place in six higher by 1: n log(variance) falls from 90 log(0.23) by more
  // than 80, the two means cost less than 10.
  EXPECT_LT(repetition_criterion(pauses, 6, {}), -50);
}

TEST(RepetitionCriterion, PrefersTheStepToItsHalfAndItsDouble) {
  std::vector<double> pauses = noise(120, 2);
  for (std::size_t i = 0; i < pauses.size(); i += 6) pauses[i] += 1;
  const std::vector<std::size_t> half{3};
  const std::vector<std::size_t> parts{3, 6};
  const double step = repetition_criterion(pauses, 6, half);
  EXPECT_LT(step, repetition_criterion(pauses, 3, {}));
  EXPECT_LT(step, repetition_criterion(pauses, 12, parts));
}

/// A ring of four behind a slow link, one sender seen: bursts of a round each, `first_ms` before
/// those that begin a step and `wait_ms` before the others.
Channel sender(int host, std::int64_t first_ms, std::int64_t wait_ms) {
  Channel channel{.from = host, .to = (host + 1) % 4, .flows = {}, .bursts = {}, .bytes = 0};
  Random random(static_cast<std::uint64_t>(host), "sender");
  std::int64_t now = 0;
  for (int round = 0; round < 12 * 6; ++round) {
    const double pause = static_cast<double>(round % 6 == 0 ? first_ms : wait_ms);
    now += static_cast<std::int64_t>(pause * (1 + 0.1 * random.normal()) * kMs);
    channel.bursts.push_back({now, now + 4 * kMs, 500'000, 350});
    channel.bytes += 500'000;
    now += 4 * kMs;
  }
  return channel;
}

Steps rounds_of(const std::vector<Channel>& channels) {
  Tempo tempo{.period_ns = 44e6, .share = 1, .dominance = 1, .ratio = 5, .members = {}};
  for (std::size_t i = 0; i < channels.size(); ++i) {
    Member member{.channel = i, .bytes = 500'000, .beats = {}};
    for (std::size_t b = 0; b < channels[i].bursts.size(); ++b) {
      const flow::Burst& burst = channels[i].bursts[b];
      member.beats.push_back({burst.start_ns, burst.end_ns, burst.bytes, b, b + 1, true});
    }
    tempo.members.push_back(std::move(member));
  }
  return align(std::move(tempo), channels);
}

// 2(4-1) rounds are a step. Only one of the senders sees where it begins.
TEST(RingRounds, MakeAStepWhereOneSenderPausesLongerEverySixth) {
  const std::vector<Channel> channels{sender(0, 40, 40), sender(1, 80, 40), sender(2, 40, 40),
                                      sender(3, 40, 40)};
  const RingRounds found = ring_rounds(rounds_of(channels), channels, kGapNs);
  EXPECT_DOUBLE_EQ(found.beats, 6);
  EXPECT_DOUBLE_EQ(found.bytes, 3e6);
  EXPECT_GT(found.lead, 10);
}

TEST(RingRounds, AreStepsWhereNothingRepeats) {
  const std::vector<Channel> channels{sender(0, 40, 40), sender(1, 40, 40), sender(2, 40, 40),
                                      sender(3, 40, 40)};
  const RingRounds found = ring_rounds(rounds_of(channels), channels, kGapNs);
  EXPECT_DOUBLE_EQ(found.beats, 1);
  EXPECT_DOUBLE_EQ(found.bytes, 5e5);
}

}  // namespace
}  // namespace tw::rhythm
