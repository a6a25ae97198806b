// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/compute_clock.h"

#include <gtest/gtest.h>

namespace tw::workload {
namespace {

/// Two ranks on two hosts; 100 ns forward, 200 ns backward; host 1 is slow.
Training two() {
  Training training;
  training.strategy = "ring";
  training.arrangement.layout = collective::evenly(2, 2);
  training.compute = {.forward = Duration(100), .backward = Duration(200)};
  training.straggler = 1;
  training.straggler_factor = 1.5;
  return training;
}

TEST(ComputeClock, CountsFromTheStepsBegin) {
  ComputeClock clock(two(), 0);
  clock.begin_step(1000);
  EXPECT_EQ(clock.forward_end_ns(), 1100);
  EXPECT_EQ(clock.ready_ns(Duration(50)), 1150);
}

TEST(ComputeClock, OfAStragglerRunsSlower) {
  ComputeClock clock(two(), 1);
  clock.begin_step(1000);
  EXPECT_EQ(clock.forward_end_ns(), 1150);
  EXPECT_EQ(clock.ready_ns(Duration(200)), 1450);
}

TEST(ComputeClock, DrawsItsJitterAnewForEachStepButAlikeForEachSeed) {
  Training training = two();
  training.compute.jitter = 0.2;
  ComputeClock one(training, 0);
  ComputeClock other(training, 0);
  one.begin_step(0);
  other.begin_step(0);
  const std::int64_t first = one.ready_ns(Duration(200));
  EXPECT_EQ(first, other.ready_ns(Duration(200)));
  one.begin_step(0);
  EXPECT_NE(first, one.ready_ns(Duration(200)));
}

}  // namespace
}  // namespace tw::workload
