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

TEST(FaultWords, OfWhatNeverCameHaveNoCost) {
  Fault fault = down_for_a_second();
  fault.begin_s = {};
  fault.costs[0].steps = 0;
  EXPECT_EQ(fault_words(fault), "link-down host1, never: all was over before");
}

}  // namespace
}  // namespace tw::record
