// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/fault_words.h"

#include <gtest/gtest.h>

namespace tw::record {
namespace {

Fault down_for_a_second() {
  return {
      .kind = "link-down",
      .where = "host1",
      .begin_s = 0.35,
      .end_s = 1.35,
      .costs = {{.job = "job0", .usual_s = 0.11, .steps = 1, .longest_s = 1.1, .cost_s = 0.99}}};
}

TEST(FaultWords, SayWhatWhenAndWhatItCost) {
  EXPECT_EQ(
      fault_words(down_for_a_second()),
      "link-down host1, 350 ms to 1.35 s; 1 step of job0 took 990 ms longer, the longest 1.1 s "
      "(usual 110 ms)");
  EXPECT_TRUE(cost_a_step(down_for_a_second()));
}

TEST(FaultWords, OfWhatLastedToTheEndAndTouchedNobody) {
  Fault fault = down_for_a_second();
  fault.end_s = {};
  fault.costs[0].steps = 0;
  EXPECT_EQ(fault_words(fault), "link-down host1, 350 ms to the end; no step of job0");
  EXPECT_FALSE(cost_a_step(fault));
}

TEST(FaultWords, OfAKillSayWhen) {
  Fault fault = down_for_a_second();
  fault.kind = "kill";
  fault.end_s = fault.begin_s;
  fault.costs.clear();
  EXPECT_EQ(fault_words(fault), "kill host1, at 350 ms");
}

TEST(RecoveryWords, SayWhatWasLostAndWhatItTook) {
  Recovery recovery{.job = "job0",
                    .policy = "restart",
                    .what = "rank 1 on host1 was killed",
                    .noticed_s = 0.5,
                    .notice = "closed connection",
                    .detection_s = 0.004,
                    .step = 10,
                    .lost_steps = 1,
                    .from_checkpoint = true,
                    .bytes = 1'200'000,
                    .recovery_s = 0.055,
                    .back_s = 0.19,
                    .ranks = 4};
  EXPECT_EQ(recovery_words(recovery),
            "rank 1 on host1 was killed: noticed after 4 ms (closed connection), restart from step "
            "10 (checkpoint) with 4 ranks after 55 ms and 1200 kB of state, 1 step lost; as usual "
            "again after 190 ms");
  recovery.detection_s = {};
  recovery.recovery_s = 0;
  EXPECT_EQ(
      recovery_words(recovery),
      "rank 1 on host1 was killed: noticed at 500 ms (closed connection), and the job did not "
      "go on");
}

TEST(CheckpointWords, SayWhatWentWrong) {
  EXPECT_EQ(
      checkpoint_words(
          {.written = 2, .failed = 1, .bytes = 4000, .longest_s = 0.01, .problem = "no room"}),
      "2 checkpoints of 4000 B, the longest took 10 ms; 1 not written; no room");
  EXPECT_EQ(checkpoint_words({}), "0 checkpoints");
}

TEST(FaultWords, OfWhatNeverCameHaveNoCost) {
  Fault fault = down_for_a_second();
  fault.begin_s = {};
  fault.costs[0].steps = 0;
  EXPECT_EQ(fault_words(fault), "link-down host1, never: all was over before");
}

}  // namespace
}  // namespace tw::record
