// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/told.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::like {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Four ranks, 80 ms of computing, an all-reduce of 50 MB at 20 Gbit/s of bus bandwidth: 1.5 x 50 MB take 30 ms.
record::Run traced() {
  record::Run run{.command = "analyze"};
  run.operations = record::Operations{.count = 30, .rows = 120, .ranks = 4};
  run.iterations = record::Iterations{.count = 30,
                                      .median_s = 0.110,
                                      .ci_low_s = 0.109,
                                      .ci_high_s = 0.111,
                                      .times_s = {0.11, 0.11}};
  run.accounting = record::Accounting{
      .step_s = 0.110,
      .parts = {{.name = "bandwidth", .seconds = 0.03}, {.name = "compute", .seconds = 0.08}}};
  run.collectives.push_back({.operation = "all_reduce",
                             .strategy = "ring",
                             .bytes_per_iteration = 50'000'000,
                             .busbw_bps = 20e9});
  return run;
}

TEST(Told, TracesBecomeAStarAsFastAsTheirTransfers) {
  const Fitted fitted = fit(traced(), "");
  EXPECT_EQ(*fitted.experiment.network.hosts, 4);
  EXPECT_EQ(*fitted.experiment.network.link.rate, BitRate(20e9));
  EXPECT_EQ(**fitted.experiment.jobs[0].compute_time, std::chrono::milliseconds(80));
  EXPECT_NEAR(steps_s(fitted, fitted.experiment).at(0), 0.110, 1e-9);
  // Of twice the rate half of the 30 ms remain; the model's own share of it is kept within a tenth.
  spec::Experiment changed = fitted.experiment;
  changed.network.link.rate.value = BitRate(40e9);
  EXPECT_NEAR(steps_s(fitted, changed).at(0), 0.095, 0.0095);
  EXPECT_THAT(fitted.cannot, Contains(HasSubstr("neither delays nor which link")));
}

TEST(Told, ALateRankIsAStraggler) {
  record::Run run = traced();
  run.straggler = record::Straggler{.host = "rank 2", .delay_s = 0.04, .rank = 2};
  run.iterations->median_s = 0.150;
  run.accounting->parts[1].seconds = 0.090;  // three ranks compute 80 ms, rank 2 computes 120 ms
  const Fitted fitted = fit(run, "");
  EXPECT_EQ(*fitted.experiment.jobs[0].straggler, "host2");
  EXPECT_EQ(**fitted.experiment.jobs[0].compute_time, std::chrono::milliseconds(80));
  EXPECT_NEAR(*fitted.experiment.jobs[0].straggler_factor, 1.5, 1e-6);
}

// 400 ms in one of ten steps: of a mean one 40, of a median one none.
TEST(Told, ARankThatIsLateNowAndThenIsFittedToTheMean) {
  record::Run run = traced();
  run.straggler = record::Straggler{.host = "rank 2", .delay_s = 0.04, .rank = 2};
  run.accounting->step_s = 0.150;
  run.accounting->parts[1].seconds = 0.090;
  const Fitted fitted = fit(run, "");
  EXPECT_NEAR(steps_s(fitted, fitted.experiment).at(0), 0.150, 1e-9);
  EXPECT_THAT(fitted.cannot, Contains(HasSubstr("late rank is so in some steps only")));
}

TEST(Told, WithoutSizesOrStepsThereIsNothingToFit) {
  record::Run run = traced();
  run.collectives.clear();
  EXPECT_THROW(fit(run, ""), DataError);
  run = traced();
  run.accounting.reset();
  EXPECT_THROW(fit(run, ""), DataError);
}

TEST(Told, SaysWhatIsMissing) {
  const auto refused = [](const record::Run& run) -> std::string {
    try {
      fit(run, "");
    } catch (const DataError& error) {
      return error.what();
    }
    return {};
  };
  record::Run steps = traced();
  steps.accounting.reset();
  EXPECT_THAT(refused(steps), HasSubstr("steps are told, but not what ranks did in them"));
  record::Run table = traced();
  table.iterations.reset();
  table.sources.push_back({.path = "all_reduce.log", .kind = "nccl_tests"});
  EXPECT_THAT(refused(table), HasSubstr("this is a benchmark, not a job with steps"));
}

}  // namespace
}  // namespace tw::like
