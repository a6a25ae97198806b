// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/judge.h"

#include "trainwire/operations/summary.h"
#include "trainwire/operations/test_jobs.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;

record::Run run_of(std::vector<Told> told) {
  record::Run run;
  add_to(run, imported(std::move(told)));
  return run;
}

TEST(Judge, RanksWithoutFilesMayBeWhatLooksLikeTransfer) {
  // Rank 3 comes 60 ms late, and only ranks 0 and 1 gave files.
  std::vector<Told> told = traces_of({.late_rank = 3, .late_ns = 60'000'000});
  told.resize(2);
  const Imported made = imported(told);
  const record::Run run = run_of(told);
  EXPECT_THAT(run.verdict->confidence, Lt(0.5));
  EXPECT_THAT(run.verdict->text,
              AllOf(HasSubstr("one of the 2 ranks that gave no file"), HasSubstr("all 4 ranks")));
  EXPECT_THAT(record::part_s(*run.accounting, "unexplained"), DoubleNear(0.080, 1e-9));
  EXPECT_THAT(imported_text(run, made, "", ""),
              HasSubstr("data quality     fair · times of 2 of 4 ranks"));
  EXPECT_THAT(imported_text(run_of(traces_of({})), made, "", ""), Not(HasSubstr("data quality")));
}

TEST(Judge, RanksThatAreLateInTurnAreNotTheNetwork) {
  // Eight steps, in each another of four ranks 40 ms after the others: 30 ms of waiting, 20 of transfer.
  const record::Run run = run_of(traces_of({.steps = 8, .late_ns = 40'000'000, .in_turn = true}));
  EXPECT_THAT(run.verdict->text, HasSubstr("ranks are late in turn, and wait 30 ms of a step of"));
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_FALSE(run.straggler);
}

}  // namespace
}  // namespace tw::operations
