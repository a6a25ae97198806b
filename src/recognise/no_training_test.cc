// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/no_training.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace tw::recognise {
namespace {

constexpr double kMs = 1e6;

rhythm::Beat beat(double start_ns, std::uint64_t bytes) {
  return {.start_ns = static_cast<std::int64_t>(start_ns),
          .end_ns = static_cast<std::int64_t>(start_ns + kMs),
          .bytes = bytes,
          .first_burst = 0,
          .end_burst = 1,
          .fits = true};
}

/// 60 steps in which hosts 1 to 3 send host 0 something and get as much back, all together; before
/// each they pause for a time drawn from `pause`, of a chance.
template <typename Pause>
rhythm::Steps star(std::uint64_t bytes, Pause pause) {
  Random random(5, "steps");
  rhythm::Steps steps;
  for (int leaf = 1; leaf <= 3; ++leaf) {
    steps.lanes.push_back({.from = leaf, .to = 0, .channel = 0, .bytes = bytes, .beats = {}});
    steps.lanes.push_back({.from = 0, .to = leaf, .channel = 0, .bytes = bytes, .beats = {}});
  }
  double at = 0;
  for (int i = 0; i < 60; ++i) {
    for (rhythm::Lane& lane : steps.lanes) {
      lane.beats.push_back(beat(lane.to == 0 ? at : at + 2 * kMs, bytes));
    }
    const auto start = static_cast<std::int64_t>(at);
    steps.steps.push_back({start, start + 3'000'000, 6 * bytes});
    at += 3 * kMs + pause(random.uniform());
  }
  return steps;
}

double computing(double chance) { return kMs * (30 + 3 * chance); }
double unevenly(double chance) { return kMs * (12 + 36 * chance); }
double wished(double chance) { return -30 * kMs * std::log(1 - chance); }

Recognition found_star() {
  return {.operation = "all_reduce",
          .strategy = "star",
          .order = {0, 1, 2, 3},
          .servers = {},
          .starters = {1, 2, 3},
          .payload = 1e6,
          .evidence = {},
          .nats = 30};
}

TEST(NoTraining, IsUnlikelyWhereRanksCompute) {
  EXPECT_LT(no_training(star(1'000'000, computing), found_star()).probability, 0.15);
}

TEST(NoTraining, IsLikelyWhereStepsBeginAtAnyTime) {
  EXPECT_GT(no_training(star(1'000'000, wished), found_star()).probability, 0.5);
}

// Players of a game, say, each of whom gets as much as he sends.
TEST(NoTraining, IsLikelyWhereClientsOfOneHostKeepToAClock) {
  double begun_ms = 0;
  int rung = 0;
  const auto by_clock = [&](double chance) {
    const double before_ms = begun_ms;
    begun_ms = 50 * ++rung + chance;
    return kMs * (begun_ms - before_ms - 3);
  };
  EXPECT_GT(no_training(star(1'000'000, by_clock), found_star()).probability, 0.5);
}

TEST(NoTraining, IsUnlikelyWhereRanksComputeForHalfAsLongAgain) {
  EXPECT_LT(no_training(star(1'000'000, unevenly), found_star()).probability, 0.5);
}

TEST(NoTraining, IsLikelyWhereAStepIsAFewPackets) {
  EXPECT_GT(no_training(star(500, computing), found_star()).probability, 0.5);
}

TEST(NoTraining, IsLikelyWhereHostsAskOneOrAnotherByChance) {
  Random random(7, "order");
  rhythm::Steps steps;
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if (from == to) continue;
      steps.lanes.push_back(
          {.from = from, .to = to, .channel = 0, .bytes = 1'000'000, .beats = {}});
    }
  }
  for (int i = 0; i < 30; ++i) {
    const double at = 100 * kMs * i;
    for (rhythm::Lane& lane : steps.lanes) {
      lane.beats.push_back(beat(at + 100 * kMs * random.uniform(), 1'000'000));
    }
    steps.steps.push_back({static_cast<std::int64_t>(at), static_cast<std::int64_t>(at) + 1, 6});
  }
  EXPECT_GT(no_training(steps, found_star()).probability, 0.5);
}

TEST(NoTraining, IsLikelierWhereNothingIsKnownOfTheSteps) {
  const rhythm::Steps steps = star(1'000'000, computing);
  EXPECT_GT(no_training(steps, {}).probability, no_training(steps, found_star()).probability);
}

}  // namespace
}  // namespace tw::recognise
