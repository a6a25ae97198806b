// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/verdict_text.h"

#include <gmock/gmock.h>

namespace tw::text {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

record::Accounting accounting() {
  return {.step_s = 0.958,
          .parts = {{.name = "slow_link", .seconds = 0.7},
                    {.name = "latency", .seconds = 0.0001},
                    {.name = "compute", .seconds = 0.2579}},
          .overlap_s = 0.1};
}

TEST(VerdictText, ComesFirstWithThePartsOfAStep) {
  record::Run run;
  EXPECT_EQ(verdict_text(run), "");
  run.verdict = record::Verdict{.cause = "slow_link", .text = "The network costs."};
  run.accounting = accounting();
  const std::string text = verdict_text(run);
  EXPECT_THAT(text, StartsWith("The network costs.\n  a step of 958 ms: waiting behind a slow link "
                               "700 ms, compute 257.9 ms; 100 ms more hidden by computing\n"));
  EXPECT_THAT(text, Not(HasSubstr("delay")));
}

TEST(VerdictText, TellsTheOtherJobsToo) {
  record::Run run;
  for (const char* name : {"a", "b"}) {
    run.jobs.push_back({.name = name,
                        .accounting = accounting(),
                        .verdict = record::Verdict{.job = name, .text = "Costs."}});
  }
  run.verdict = run.jobs[1].verdict;
  run.accounting = run.jobs[1].accounting;
  const std::string text = verdict_text(run);
  EXPECT_THAT(text, StartsWith("b: Costs.\n"));
  EXPECT_THAT(text, HasSubstr("a: Costs.\n"));
}

}  // namespace
}  // namespace tw::text
