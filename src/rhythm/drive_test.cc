// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/drive.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr double kMs = 1e6;

Beat beat(double start_ns, double end_ns) {
  return {.start_ns = static_cast<std::int64_t>(start_ns),
          .end_ns = static_cast<std::int64_t>(end_ns),
          .bytes = 1000,
          .first_burst = 0,
          .end_burst = 1,
          .fits = true};
}

/// 40 steps in which host 0 sends for a millisecond and host 1 answers after 5 to 15 ms; `next` says
/// when host 0 begins again, by the number of its beginnings and when it has the answer.
template <typename Next>
Drive drive_by(Next next) {
  Random random(3, "steps");
  Steps steps;
  steps.lanes = {{.from = 0, .to = 1, .channel = 0, .bytes = 1000, .beats = {}},
                 {.from = 1, .to = 0, .channel = 1, .bytes = 1000, .beats = {}}};
  double start = 0;
  for (int i = 0; i < 40; ++i) {
    const double answer = start + kMs * (6 + 10 * random.uniform());
    steps.lanes[0].beats.push_back(beat(start, start + kMs));
    steps.lanes[1].beats.push_back(beat(answer, answer + kMs));
    steps.steps.push_back({.start_ns = static_cast<std::int64_t>(start),
                           .end_ns = static_cast<std::int64_t>(answer + kMs),
                           .bytes = 2000});
    start = next(i + 1, answer + kMs, random.uniform());
  }
  return drive_of(steps);
}

TEST(DriveOf, WorkBeginsAsLongAfterTheAnswerAsBefore) {
  const Drive found =
      drive_by([](int, double ready, double chance) { return ready + kMs * (40 + 4 * chance); });
  EXPECT_GT(found.work, found.demand + 1);
  EXPECT_EQ(found.observations, 38u);  // without the first, which start-up delays
}

TEST(DriveOf, WorkComesAfterTheLastOfSeveralBuckets) {
  const Drive found = drive_by([](int i, double ready, double chance) {
    return ready + kMs * (i % 3 == 0 ? 40 + 4 * chance : 0.1 * chance);
  });
  EXPECT_GT(found.work, found.demand + 0.5);
}

TEST(DriveOf, AClockRingsWhateverWasReceived) {
  const Drive found =
      drive_by([](int i, double, double chance) { return kMs * (50 * i + 0.5 * chance); });
  EXPECT_GT(found.clock + 0.1, found.work);
  EXPECT_GT(found.clock, found.demand + 1);
}

TEST(DriveOf, AClockThatIsHeardLateNowAndThenKeepsItsTime) {
  const Drive found = drive_by([](int i, double, double chance) {
    return kMs * (50 * i + 0.5 * chance + (i > 34 && i < 38 ? 20 : 0));
  });
  EXPECT_GT(found.clock, found.work);
  EXPECT_GT(found.clock, found.demand + 1);
}

TEST(DriveOf, AWishComesAtAnyTime) {
  const Drive found = drive_by(
      [](int, double ready, double chance) { return ready - 40 * kMs * std::log(1 - chance); });
  EXPECT_GT(found.demand, found.work + 0.2);
  EXPECT_GT(found.demand, found.clock + 0.2);
}

TEST(DriveOf, WhoBeginsBeforeItIsReadyTellsNothingOfWishes) {
  const Drive found = drive_by([](int, double ready, double) { return ready - 3 * kMs; });
  EXPECT_EQ(found.demand, 0);
}

TEST(DriveOf, WhoOnlyAnswersTellsNothing) {
  Steps steps;
  steps.lanes = {{.from = 0, .to = 1, .channel = 0, .bytes = 1000, .beats = {}}};
  EXPECT_EQ(drive_of(steps).observations, 0u);
}

/// 20 steps of 100 ms in which host 0 sends to host 1 first, and to host 2 when `later` says, by chance.
template <typename Later>
Order order_by(Later later, const std::vector<int>& servers = {}) {
  Random random(3, "order");
  Steps steps;
  steps.lanes = {{.from = 0, .to = 1, .channel = 0, .bytes = 1000, .beats = {}},
                 {.from = 0, .to = 2, .channel = 1, .bytes = 1000, .beats = {}}};
  for (int i = 0; i < 20; ++i) {
    const double start = 100 * kMs * i;
    const double second = start + kMs * later(random.uniform());
    steps.lanes[0].beats.push_back(beat(start, start + kMs));
    steps.lanes[1].beats.push_back(beat(second, second + kMs));
    steps.steps.push_back({.start_ns = static_cast<std::int64_t>(start),
                           .end_ns = static_cast<std::int64_t>(second + kMs),
                           .bytes = 2000});
  }
  return order_of(steps, servers);
}

TEST(OrderOf, AProgramKeepsIt) {
  const Order found = order_by([](double chance) { return 20 + 5 * chance; });
  EXPECT_GT(found.nats, 1);
  EXPECT_EQ(found.observations, 20u);
}

TEST(OrderOf, ChanceKeepsNone) {
  EXPECT_LT(order_by([](double chance) { return 100 * chance; }).nats, -0.1);
}

TEST(OrderOf, WhoAnswersTellsNothing) {
  EXPECT_EQ(order_by([](double chance) { return 100 * chance; }, {0}).observations, 0u);
}

}  // namespace
}  // namespace tw::rhythm
