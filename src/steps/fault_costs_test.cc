// SPDX-License-Identifier: Apache-2.0
#include "trainwire/steps/fault_costs.h"

#include <gmock/gmock.h>

namespace tw::steps {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Steps of a second each, on two ranks, but for step 3, which takes four.
std::vector<record::PhaseRow> seven_steps() {
  std::vector<record::PhaseRow> rows;
  std::int64_t begin = 100 * kSecond;
  for (std::int64_t step = -1; step < 7; ++step) {
    const std::int64_t end = begin + (step == 3 ? 4 : 1) * kSecond;
    for (const int rank : {0, 1}) {
      rows.push_back({.rank = rank,
                      .step = step,
                      .phase = record::Phase::Step,
                      .start_ns = begin + rank,
                      .end_ns = end - rank});
    }
    begin = end;
  }
  return rows;
}

TEST(FaultCosts, AreWhatTouchedStepsTookLonger) {
  const std::vector<StepSpan> steps = step_spans(seven_steps());
  ASSERT_EQ(steps.size(), 7U);
  EXPECT_EQ(steps[3].begin_ns, 104 * kSecond);
  // Down from 104.5 s to 107 s; the other never came.
  const std::vector<FaultSpan> faults{
      {.begin_ns = 104 * kSecond + kSecond / 2, .end_ns = 107 * kSecond}, {}};
  const auto costs = fault_costs("job0", steps, faults);
  EXPECT_EQ(costs[0].steps, 1U);
  EXPECT_DOUBLE_EQ(costs[0].usual_s, 1);
  EXPECT_DOUBLE_EQ(costs[0].longest_s, 4);
  EXPECT_DOUBLE_EQ(costs[0].cost_s, 3);
  EXPECT_EQ(costs[1].steps, 0U);
}

// Rank 1 is ahead, and waits in the step that follows while rank 0 is held up.
TEST(FaultCosts, OfStepsThatOverlapCountOnce) {
  const std::vector<StepSpan> steps{
      {.step = 0, .begin_ns = 0, .end_ns = kSecond},
      {.step = 1, .begin_ns = kSecond, .end_ns = 5 * kSecond},
      {.step = 2, .begin_ns = 2 * kSecond, .end_ns = 6 * kSecond},
      {.step = 3, .begin_ns = 6 * kSecond, .end_ns = 7 * kSecond},
  };
  const std::vector<FaultSpan> faults{{.begin_ns = 3 * kSecond / 2, .end_ns = 4 * kSecond}};
  const auto costs = fault_costs("job0", steps, faults);
  EXPECT_EQ(costs[0].steps, 2U);
  EXPECT_DOUBLE_EQ(costs[0].longest_s, 4);
  EXPECT_DOUBLE_EQ(costs[0].cost_s, 3);
}

TEST(FaultCosts, WithoutStepsAreNothing) {
  const auto costs = fault_costs("job0", {}, std::vector<FaultSpan>{{.begin_ns = 5}});
  EXPECT_EQ(costs[0].steps, 0U);
  EXPECT_EQ(costs[0].usual_s, 0);
}

TEST(UsualAgain, IsTheFirstStepThatIsNotSlow) {
  const std::vector<StepSpan> steps = step_spans(seven_steps());
  EXPECT_EQ(usual_again(steps, 104 * kSecond), 108 * kSecond);
  EXPECT_EQ(usual_again(steps, 101 * kSecond), std::nullopt);  // nothing was before
  EXPECT_EQ(usual_again(steps, 120 * kSecond), std::nullopt);
}

}  // namespace
}  // namespace tw::steps
