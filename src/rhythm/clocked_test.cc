// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/clocked.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

namespace tw::rhythm {
namespace {

constexpr double kPeriodNs = 100e6;

/// 40 steps; each is late by a random time, which the next one makes up for or not.
Steps steps(bool makes_up, double deviation_ns) {
  Random random(3, "steps");
  Steps result;
  double time = 0;
  for (int i = 0; i < 40; ++i) {
    const double late = deviation_ns * random.uniform();
    time += kPeriodNs + (makes_up ? 0 : late);
    const auto start = static_cast<std::int64_t>(time + (makes_up ? late : 0));
    result.steps.push_back({.start_ns = start, .end_ns = start + 1'000'000, .bytes = 1000});
  }
  return result;
}

TEST(Clocked, ATimerMakesUpForBeingLate) { EXPECT_TRUE(is_clocked(steps(true, 0.5e6))); }

TEST(Clocked, WhereNothingIsEverLateNothingIsMadeUpFor) {
  EXPECT_FALSE(is_clocked(steps(true, 0)));
}

TEST(Clocked, WhoBeginsAfterTheStepBeforeDoesNot) { EXPECT_FALSE(is_clocked(steps(false, 0.5e6))); }

TEST(Clocked, TimesThatVaryMuchAreNoClocks) { EXPECT_FALSE(is_clocked(steps(true, 20e6))); }

TEST(Clocked, AFewStepsDoNotTell) {
  Steps few = steps(true, 0.5e6);
  few.steps.resize(9);  // 7 distances without the first
  EXPECT_FALSE(is_clocked(few));
}

}  // namespace
}  // namespace tw::rhythm
