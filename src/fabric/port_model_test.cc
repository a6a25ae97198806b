// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/port_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace tw::fabric {
namespace {

struct Counted {
  double share;
  double mean_run;
};

Counted count(LossModel model, int packets) {
  int lost = 0;
  int runs = 0;
  bool before = false;
  for (int i = 0; i < packets; ++i) {
    const bool now = model.loses_next();
    lost += now ? 1 : 0;
    runs += now && !before ? 1 : 0;
    before = now;
  }
  EXPECT_EQ(model.lost(), static_cast<std::uint64_t>(lost));
  return {static_cast<double>(lost) / packets, static_cast<double>(lost) / runs};
}

// 1e6 packets at 1 %: standard deviation 1e-4; the runs of independent loss have mean 1 / (1 - p).
TEST(LossModel, LosesTheShareIndependently) {
  const Counted counted = count(LossModel({.link = "a", .loss = 0.01}, 1), 1'000'000);
  EXPECT_NEAR(counted.share, 0.01, 5e-4);
  EXPECT_NEAR(counted.mean_run, 1 / 0.99, 0.02);
}

// Bursts of 5 make the count vary about 3 times as much.
TEST(LossModel, LosesTheSameShareInBursts) {
  const Counted counted =
      count(LossModel({.link = "a", .loss = 0.02, .loss_burst = 5}, 1), 1'000'000);
  EXPECT_NEAR(counted.share, 0.02, 3e-3);
  EXPECT_NEAR(counted.mean_run, 5, 0.4);
}

TEST(LossModel, LosesNothingAndEverything) {
  LossModel none({.link = "a"}, 1);
  LossModel all({.link = "a", .loss = 1}, 1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(none.loses_next());
    EXPECT_TRUE(all.loses_next());
  }
}

TEST(LossModel, TheSeedAndThePortFixTheSequence) {
  LossModel a({.link = "a", .loss = 0.5}, 1);
  LossModel same({.link = "a", .loss = 0.5}, 1);
  LossModel other({.link = "b", .loss = 0.5}, 1);
  int differences = 0;
  for (int i = 0; i < 100; ++i) {
    const bool lost = a.loses_next();
    EXPECT_EQ(lost, same.loses_next());
    differences += lost != other.loses_next() ? 1 : 0;
  }
  EXPECT_GT(differences, 20);
}

TEST(DelayModel, HoldsEachPacketForTheDelay) {
  DelayModel model({.link = "a", .delay = std::chrono::milliseconds(5)}, 1);
  EXPECT_EQ(model.due_ns(1000), 5'001'000);
  EXPECT_EQ(model.due_ns(2000), 5'002'000);
}

// Packets 10 ms apart with 1 ms of jitter around 5 ms: never reordered, never early, mean kept.
TEST(DelayModel, JitterKeepsOrderAndMean) {
  DelayModel model(
      {.link = "a", .delay = std::chrono::milliseconds(5), .jitter = std::chrono::milliseconds(1)},
      1);
  double sum = 0;
  double squares = 0;
  std::int64_t last = 0;
  constexpr int kPackets = 10'000;
  for (int i = 0; i < kPackets; ++i) {
    const std::int64_t now = i * std::int64_t{10'000'000};
    const std::int64_t due = model.due_ns(now);
    EXPECT_GE(due, last);
    EXPECT_GE(due, now);
    last = due;
    const double extra = static_cast<double>(due - now) - 5e6;
    sum += extra;
    squares += extra * extra;
  }
  EXPECT_NEAR(sum / kPackets, 0, 5e4);
  EXPECT_NEAR(std::sqrt(squares / kPackets), 1e6, 5e4);
}

}  // namespace
}  // namespace tw::fabric
