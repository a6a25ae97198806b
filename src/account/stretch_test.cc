// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/stretch.h"

#include <gtest/gtest.h>

namespace tw::account {
namespace {

/// 100 ms of computing, 200 of transfer, and `loss_s`.
Chain chain(double loss_s) {
  Chain made{.step_s = 0.3 + loss_s};
  if (loss_s > 0) made.parts.push_back({.name = "loss", .seconds = loss_s});
  made.parts.push_back({.name = "bandwidth", .seconds = 0.2});
  made.parts.push_back({.name = "compute", .seconds = 0.1});
  return made;
}

/// All parts as measured, together.
double sum_of(const Chain& chain, const Stretch& stretch) {
  return stretch.timers_s + stretch.of("bandwidth", chain.part("bandwidth")) +
         stretch.of("loss", chain.part("loss")) + stretch.added_s + stretch.unexplained_s;
}

TEST(Stretch, LeavesWhatAgreesAsItIs) {
  const Stretch same = stretch_of(chain(0.1), {.step_s = 0.4});
  EXPECT_DOUBLE_EQ(same.factor, 1);
  EXPECT_DOUBLE_EQ(same.uncertain_factor, 1);
  EXPECT_NEAR(same.unexplained_s, 0, 1e-12);
}

// Loss is simulated worse than transfer: most of what is missing is its.
TEST(Stretch, GivesMoreToWhatIsLessSure) {
  const Stretch made = stretch_of(chain(0.1), {.step_s = 0.5});
  EXPECT_GT(made.uncertain_factor, 1.8);
  EXPECT_LT(made.factor, 1.1);
  EXPECT_NEAR(sum_of(chain(0.1), made), 0.5, 1e-12);
}

TEST(Stretch, NeverLeavesLessThanNoLoss) {
  const Stretch made = stretch_of(chain(0.1), {.step_s = 0.28});
  EXPECT_GE(made.uncertain_factor, 0);
  EXPECT_NEAR(sum_of(chain(0.1), made), 0.28, 1e-12);
}

// The simulation lost nothing, and yet packets were dropped.
TEST(Stretch, BelievesCountedDrops) {
  const Stretch made = stretch_of(chain(0), {.step_s = 0.6, .dropped_by = "loss"});
  EXPECT_EQ(made.added_to, "loss");
  EXPECT_GT(made.added_s, 0.25);
  EXPECT_NEAR(sum_of(chain(0), made), 0.6, 1e-12);
  const Stretch without = stretch_of(chain(0), {.step_s = 0.6});
  EXPECT_EQ(without.added_s, 0);
  EXPECT_NEAR(without.unexplained_s, 0.25, 1e-12);  // what is beyond a quarter of the transfer
}

// Few drops, of which packets say what they cost.
TEST(Stretch, GivesDropsNoMoreThanTheyCanHaveCost) {
  const Stretch made =
      stretch_of(chain(0), {.step_s = 0.6, .dropped_by = "loss", .dropped_most_s = 0.02});
  EXPECT_NEAR(made.added_s, 0.02, 1e-12);
  EXPECT_NEAR(made.unexplained_s, 0.3 - 0.02 - 0.05, 1e-12);
  EXPECT_NEAR(sum_of(chain(0), made), 0.6, 1e-12);
}

TEST(Stretch, GivesSimulatedDropsNoMoreEither) {
  const Stretch made =
      stretch_of(chain(0.1), {.step_s = 0.45, .dropped_by = "loss", .dropped_most_s = 0.06});
  EXPECT_NEAR(made.of("loss", 0.1), 0.06, 1e-12);
  EXPECT_DOUBLE_EQ(made.uncertain_error, 0.3);
  EXPECT_NEAR(sum_of(chain(0.1), made), 0.45, 1e-12);
}

// Another job is in the way as well: that drops cost nothing says nothing of it.
TEST(Stretch, LeavesOtherJobsTheirShareWhateverDropsCost) {
  Chain with = chain(0);
  with.step_s = 0.36;
  with.parts.push_back({.name = "other_job", .seconds = 0.06});
  const Stretch made =
      stretch_of(with, {.step_s = 0.42, .dropped_by = "loss", .dropped_most_s = 0.0});
  // 60 ms more, shared out by the squares of 60 % of 60 ms and of 10 % of 200 ms.
  EXPECT_NEAR(made.of("other_job", 0.06) - 0.06, 0.06 * 36 * 36 / (36 * 36 + 20 * 20), 1e-9);
}

TEST(Stretch, TakesComputingAsItWasMeasured) {
  const Stretch made = stretch_of(chain(0), {.step_s = 0.31, .compute_s = 0.11});
  EXPECT_DOUBLE_EQ(made.timers_s, 0.11);
  EXPECT_DOUBLE_EQ(made.factor, 1);
}

}  // namespace
}  // namespace tw::account
