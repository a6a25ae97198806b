// SPDX-License-Identifier: Apache-2.0
// What the program's own log adds to an analysis.
#include "trainwire/diagnose/analysis.h"
#include "trainwire/diagnose/test_analysis.h"

#include <gtest/gtest.h>

namespace tw::diagnose {
namespace {

TEST(Analyse, KeepsTheTailOfALoggedStepOutOfTheNext) {
  // Steps as packets show them; one rank's log begins each while the others still end the one
  // before.
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 1, 2, 3}, .steps = 10};
  const gather::Captured traffic = rhythm::play(job);
  const Analysis alone = analyse(traffic, {});
  imports::StepLog log{.format = "csv", .steps = {}};
  for (int rank = 0; rank < 2; ++rank) {
    for (std::size_t i = 1; i < alone.iterations.steps.size(); ++i) {
      const Iteration& step = alone.iterations.steps[i];
      const std::int64_t early = rank == 0 ? (step.end_ns - step.start_ns) / 10 : 0;
      log.steps.push_back({rank, static_cast<std::int64_t>(i), step.start_ns - early, step.end_ns});
    }
  }
  const Analysis found = analyse(traffic, {.log = log});
  // Of all hosts together it takes a little longer than of one; with the tail, five times as long.
  EXPECT_NEAR(found.iterations.exchange_s, alone.iterations.exchange_s,
              0.25 * alone.iterations.exchange_s);
}

TEST(Analyse, TakesStepsFromALog) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 1, 2, 3}, .steps = 10};
  imports::StepLog log{.format = "csv", .steps = {}};
  for (int step = 0; step < 5; ++step) {
    log.steps.push_back({0, step, 100'000'000 * (step + 2), 100'000'000 * (step + 3)});
  }
  const Analysis found = analyse(rhythm::play(job), {.log = log});
  EXPECT_TRUE(found.iterations.from_log);
  EXPECT_EQ(found.iterations.steps.size(), 5);
  EXPECT_DOUBLE_EQ(found.iterations.median_s, 0.1);
  // Nothing is lost: before, during and after sum to all of it, 4 lanes of 6 MB in each of 10
  // steps.
  EXPECT_EQ(
      found.iterations.bytes_before + found.iterations.bytes_during + found.iterations.bytes_after,
      240'000'000u);
  EXPECT_EQ(found.collectives[0].strategy, "ring");
  // The log tells of half of the steps: that makes no step twice as large.
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
}

TEST(Analyse, AnAverageOfManyStepsOfALogCountsOnceInAnInterval) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {0, 1, 2, 3}, .steps = 10};
  imports::StepLog log{.format = "text", .steps = {}};
  for (int step = 0; step < 9; ++step) {
    log.steps.push_back({0, step, 100'000'000 * (step + 2), 100'000'000 * (step + 3), step != 1});
  }
  const Analysis found = analyse(rhythm::play(job), {.log = log});
  EXPECT_DOUBLE_EQ(found.iterations.median_s, 0.1);
  EXPECT_EQ(found.iterations.averages, 1U);
  EXPECT_FALSE(found.iterations.ci_low_s);
}

// Nothing pauses between the steps, so that only the program knows how many rounds are one.
TEST(Analyse, FollowsTheLogWhereRoundsAreAllAlike) {
  const rhythm::PlayedJob job{.strategy = "ring",
                              .placement = {0, 1, 2, 3},
                              .compute_s = 1e-5,
                              .jitter = 0,
                              .rate_bps = 800e6,
                              .latency_s = 2e-3};
  // A chunk of 1 MB takes 10 ms and 2 ms more to arrive: six rounds are 72 ms.
  imports::StepLog log{.format = "csv", .steps = {}};
  for (int step = 0; step < 15; ++step) {
    const std::int64_t start = 200'000'000 + 72'010'000 * step;
    log.steps.push_back({0, step, start, start + 72'010'000});
  }
  const Analysis found = analyse(rhythm::play(job), {.log = log});
  EXPECT_EQ(found.iterations.steps.size(), 15);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].strategy, "ring");
  EXPECT_NEAR(model_error(found, job), 0, 0.01);
}

// The program counts five steps where packets show fifteen equal exchanges: it exchanges three
// times in each.
TEST(Analyse, TheLogSaysHowManyExchangesMakeAStep) {
  const rhythm::PlayedJob job{.strategy = "ring", .placement = {2, 0, 3, 1}};
  const gather::Captured traffic = rhythm::play(job);
  const Analysis alone = analyse(traffic);
  ASSERT_EQ(alone.iterations.steps.size(), 15);
  imports::StepLog log{.format = "csv", .steps = {}};
  for (int step = 0; step < 5; ++step) {
    const auto first = static_cast<std::size_t>(3 * step);
    const std::int64_t end = step < 4 ? alone.iterations.steps[first + 3].start_ns
                                      : alone.iterations.steps[first + 2].end_ns;
    log.steps.push_back({0, step, alone.iterations.steps[first].start_ns, end});
  }
  const Analysis found = analyse(traffic, {.log = log});
  EXPECT_EQ(found.iterations.steps.size(), 5);
  ASSERT_FALSE(found.collectives.empty());
  EXPECT_EQ(found.collectives[0].count, 5);
  EXPECT_EQ(*found.model_bytes, 3 * *alone.model_bytes);
}

}  // namespace
}  // namespace tw::diagnose
