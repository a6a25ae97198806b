// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/exposed.h"

#include "trainwire/operations/imported.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Exposed, WhatIsHiddenIsTakenOut) {
  const std::vector<Span> hidden{{0, 5}, {20, 30}, {45, 60}};
  EXPECT_THAT(without({{0, 10}, {15, 40}, {41, 50}}, hidden),
              ElementsAre(Span{5, 10}, Span{15, 20}, Span{30, 40}, Span{41, 45}));
  EXPECT_THAT(without({{20, 30}}, hidden), ElementsAre());
}

TEST(Exposed, ASpanOverStepsIsPartOfEach) {
  const std::vector<Span> spans{{-1'000'000'000, 4'000'000'000}, {5'000'000'000, 6'000'000'000}};
  EXPECT_THAT(by_step(spans, {0, 1'000'000'000}), ElementsAre(1, 1, 4));
  EXPECT_THAT(by_step(spans, {}), ElementsAre(6));
}

struct Overlapping {
  std::int64_t late_ms = 0;      ///< of rank 1, before it computes
  std::int64_t transfer_ms = 0;  ///< of each of three collectives
};

/// Three ranks compute for 30 ms, then three pieces of 20, with a collective after each piece, beside the next one.
std::vector<Told> overlapping(const Overlapping& job) {
  const std::int64_t ms = 1'000'000;
  std::vector<Told> told(3);
  std::int64_t now = 1'700'000'000'000'000'000;
  for (int step = 0; step < 4; ++step) {
    std::int64_t free = now;
    for (std::int64_t piece = 1; piece <= 3; ++piece) {
      const std::int64_t last = std::max(free, now + (30 + 20 * piece + job.late_ms) * ms);
      for (int rank = 0; rank < 3; ++rank) {
        const std::int64_t late = rank == 1 ? job.late_ms : 0;
        const std::int64_t ready = now + (30 + 20 * piece + late) * ms;
        told[static_cast<std::size_t>(rank)].operations.push_back(
            {.rank = rank,
             .group = "0",
             .group_size = 3,
             .op = "all_reduce",
             .bytes = 1'000'000,
             .start_ns = std::max(free, ready),
             .end_ns = last + job.transfer_ms * ms});
      }
      free = last + job.transfer_ms * ms;
    }
    for (int rank = 0; rank < 3; ++rank) {
      Told& file = told[static_cast<std::size_t>(rank)];
      file.kind = "kineto";
      file.rank = rank;
      file.computing.push_back({now, now + (90 + (rank == 1 ? job.late_ms : 0)) * ms});
      file.steps.push_back(
          {.rank = rank, .number = step, .start_ns = now, .duration_ns = free - now});
    }
    now = free;
  }
  return told;
}

// Rank 1 is 40 ms late; it comes 40, 20 and 20 ms after the others, who compute on while they wait for the first.
TEST(Exposed, LatenessBesideComputingCountsOnce) {
  const Imported made = imported(overlapping({.late_ms = 40, .transfer_ms = 0}));
  EXPECT_EQ(made.balance->late->rank, 1);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
  EXPECT_THAT(made.balance->exposed_wait_s, DoubleNear(0.040 * 2 / 3, 1e-9));
  record::Run run;
  add_to(run, made);
  EXPECT_EQ(run.verdict->cause, "late_rank");
  EXPECT_THAT(run.verdict->text, HasSubstr("Without that a step would take 90 ms"));
}

// Collectives of 20 ms follow one another: of the step of 150 ms, 40 are rank 1's, 90 computing and 20 a transfer.
TEST(Exposed, WaitingThatIsHiddenMakesTransfersLate) {
  const Imported made = imported(overlapping({.late_ms = 40, .transfer_ms = 20}));
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
  EXPECT_THAT(made.balance->exposed_wait_s, DoubleNear(0.040 * 2 / 3, 1e-9));
  EXPECT_THAT(made.balance->exposed_s() - made.balance->exposed_wait_s, DoubleNear(0.020, 1e-9));
}

// Transfers of 60 ms, one after the other: a rank that computes 5 ms longer delays the first by 5 ms, and hides 5 ms more.
TEST(Exposed, TransfersInARowAreNoWaiting) {
  const Imported made = imported(overlapping({.late_ms = 5, .transfer_ms = 60}));
  EXPECT_THAT(made.balance->exposed_wait_s, DoubleNear(0.005 * 2 / 3, 1e-9));
  record::Run run;
  add_to(run, made);
  EXPECT_EQ(run.verdict->cause, "bandwidth");
}

}  // namespace
}  // namespace tw::operations
