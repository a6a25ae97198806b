// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/compare_output.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tw::text {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Steps of 100 ms beside steps of 300 ms, 160 ms of which are loss.
CompareView view() {
  study::ComparedJob fast{.name = "", .step_times_s = {}};
  study::ComparedJob slow{.name = "", .step_times_s = {}};
  for (int i = 0; i < 20; ++i) {
    fast.step_times_s.push_back(0.1 + 1e-4 * (i % 3));
    slow.step_times_s.push_back(0.3 + 1e-4 * (i % 5));
  }
  fast.accounting =
      record::Accounting{.step_s = 0.1, .parts = {{.name = "compute", .seconds = 0.1}}};
  slow.accounting = record::Accounting{
      .step_s = 0.3,
      .parts = {{.name = "loss", .seconds = 0.16}, {.name = "compute", .seconds = 0.14}}};
  CompareView made{.baseline = "a.run", .comparisons = {}};
  made.comparisons.push_back(
      study::compare_runs({.jobs = {std::move(fast)}}, {.jobs = {std::move(slow)}}, "b.run"));
  return made;
}

TEST(CompareOutput, BeginsWithWhatCameOfIt) {
  const std::string text = compare_text(view());
  EXPECT_THAT(text, StartsWith("A step takes 300.2 ms instead of 100.1 ms, +200 % (loss and repair "
                               "+160 ms).\n\nbaseline"));
  EXPECT_THAT(compare_document(view())["comparisons"][0]["text"].get<std::string>(),
              HasSubstr("loss and repair"));
}

TEST(CompareOutput, OfASlowLinkCountsWhatTransferTakesMore) {
  CompareView made = view();
  // As packets show them: all that moves is transfer in one, and the slow link's in the other.
  made.comparisons[0].baseline_accounting->parts = {{.name = "bandwidth", .seconds = 0.08},
                                                    {.name = "compute", .seconds = 0.02}};
  made.comparisons[0].other_accounting->parts = {{.name = "slow_link", .seconds = 0.28},
                                                 {.name = "compute", .seconds = 0.02}};
  EXPECT_THAT(compare_text(made), HasSubstr("(waiting behind a slow link +200 ms)."));
  std::swap(made.comparisons[0].baseline_accounting, made.comparisons[0].other_accounting);
  EXPECT_THAT(compare_text(made), HasSubstr("+200 %.\n"));  // it does not explain what is slower
  // Where transfer is split, each part is its own.
  made.comparisons[0].other_accounting->parts = {{.name = "bandwidth", .seconds = 0.08},
                                                 {.name = "slow_link", .seconds = 0.2}};
  made.comparisons[0].baseline_accounting->parts = {{.name = "bandwidth", .seconds = 0.08}};
  EXPECT_THAT(compare_text(made), HasSubstr("(waiting behind a slow link +200 ms)."));
}

TEST(CompareOutput, NamesNoPartThatDoesNotExplainIt) {
  CompareView made = view();
  made.comparisons[0].other_accounting.reset();
  EXPECT_THAT(compare_text(made),
              StartsWith("A step takes 300.2 ms instead of 100.1 ms, +200 %.\n"));
}

}  // namespace
}  // namespace tw::text
