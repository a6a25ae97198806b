// SPDX-License-Identifier: Apache-2.0
#include "trainwire/steps/figures.h"

#include <gmock/gmock.h>

namespace tw::steps {
namespace {

/// A ring of two, 1000 elements.
workload::Training ring_of_two() {
  workload::Training training;
  training.name = "job0";
  training.strategy = "ring";
  training.arrangement = {.layout = collective::evenly(2, 2)};
  training.buckets = {{.elements = 1000}};
  training.steps = 2;
  return training;
}

TEST(DescribedJob, AreOfStepsThatAllWorkersFinished) {
  // Steps of 10 and 20 ms, of which 4 and 6 are exchange; rank 1 has not ended the second.
  const auto row = [](int rank, std::int64_t step, record::Phase phase, std::int64_t ms_from,
                      std::int64_t ms_to) {
    return record::PhaseRow{.rank = rank,
                            .step = step,
                            .phase = phase,
                            .start_ns = 1'000'000 * ms_from,
                            .end_ns = 1'000'000 * ms_to};
  };
  const std::vector<record::PhaseRow> rows{
      row(0, -1, record::Phase::Step, 0, 1),  row(0, 0, record::Phase::Exchange, 16, 20),
      row(0, 0, record::Phase::Step, 10, 20), row(0, 1, record::Phase::Exchange, 34, 40),
      row(0, 1, record::Phase::Step, 20, 40), row(1, 0, record::Phase::Exchange, 16, 20),
      row(1, 0, record::Phase::Step, 10, 20)};
  const record::Job job = described(ring_of_two(), rows, 16'000, true);
  EXPECT_EQ(job.steps, 1u);
  EXPECT_NEAR(job.step->median_s, 0.010, 1e-9);
  EXPECT_NEAR(job.exchange->median_s, 0.004, 1e-9);
  // 2(2-1)/2 of 4000 bytes in 4 ms.
  EXPECT_NEAR(job.busbw_bps, 8e6, 1);
  EXPECT_EQ(job.step_sent_bytes, 8000);
  EXPECT_EQ(counted_time(rows, ring_of_two()).end_ns, 40'000'000);
  EXPECT_EQ(step_log(rows, ring_of_two())->steps.size(), 3u);
}

}  // namespace
}  // namespace tw::steps
