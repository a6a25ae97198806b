// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/agreement.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kMs = 1'000'000;

Told steps(const std::string& kind, std::vector<std::pair<std::int64_t, Span>> told) {
  Told made{.kind = kind};
  for (const auto& [number, span] : told) {
    made.steps.push_back({.rank = 0,
                          .number = number,
                          .start_ns = span.start_ns * kMs,
                          .duration_ns = (span.end_ns - span.start_ns) * kMs});
  }
  return made;
}

// A program that pauses 40 ms before its third step: packets cannot tell that from computing.
TEST(StepAgreement, IsFromTheEndOfAStepToTheEndOfTheNext) {
  const std::vector<Told> log{
      steps("step_log", {{0, {0, 100}}, {1, {100, 200}}, {2, {240, 340}}, {3, {340, 440}}})};
  const std::vector<Span> packets{
      {100 * kMs, 200 * kMs}, {200 * kMs, 341 * kMs}, {341 * kMs, 440 * kMs}};
  const auto found = step_agreements(log, packets);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].one, "packets");
  EXPECT_EQ(found[0].other, "step_log");
  EXPECT_EQ(found[0].compared, 3U);
  EXPECT_NEAR(found[0].largest, 0.01, 1e-9);     // 99 of 100 ms
  EXPECT_NEAR(found[0].one_s, 0.340 / 3, 1e-9);  // what one step lacks the next one has
  EXPECT_NEAR(found[0].other_s, 0.340 / 3, 1e-9);
}

TEST(StepPauses, AreWhatLiesBetweenTwoSteps) {
  const auto found = step_pauses(
      {steps("step_log", {{0, {0, 100}}, {1, {101, 200}}, {2, {240, 340}}, {4, {500, 600}}})});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].number, 2);
  EXPECT_NEAR(found[0].seconds, 0.040, 1e-9);
  EXPECT_THAT(step_pauses({}), IsEmpty());
}

TEST(StepAgreement, ATraceOfTwoStepsIsComparedWithTheseTwo) {
  const std::vector<Told> both{
      steps("step_log", {{0, {0, 300}}, {1, {300, 400}}, {2, {400, 500}}, {3, {500, 600}}}),
      steps("kineto", {{10, {301, 400}}, {11, {400, 500}}})};
  const auto found = step_agreements(both, {});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].one, "kineto");
  EXPECT_EQ(found[0].compared, 2U);
  EXPECT_NEAR(found[0].largest, 0.01, 1e-9);
}

TEST(StepAgreement, StepsThatRanksLeaveAtDifferentTimesAreLeftOut) {
  Told late = steps("step_log", {{0, {0, 180}}, {1, {180, 200}}, {2, {200, 300}}});
  for (Step& step : late.steps) step.rank = 1;
  const std::vector<Told> log{steps("step_log", {{0, {0, 100}}, {1, {100, 200}}, {2, {200, 300}}}),
                              late};
  const auto found = step_agreements(log, {{100 * kMs, 200 * kMs}, {200 * kMs, 300 * kMs}});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].compared, 1U);  // the last
  EXPECT_NEAR(found[0].largest, 0, 1e-9);
}

TEST(StepAgreement, StepsOfAnotherTimeAreNotCompared) {
  const std::vector<Told> both{steps("step_log", {{0, {0, 100}}, {1, {100, 200}}}),
                               steps("kineto", {{0, {9000, 9100}}, {1, {9100, 9200}}})};
  EXPECT_THAT(step_agreements(both, {}), IsEmpty());
}

}  // namespace
}  // namespace tw::operations
