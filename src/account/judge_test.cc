// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/judge.h"

#include <gtest/gtest.h>

namespace tw::account {
namespace {

record::Accounting of_parts(const std::vector<std::pair<const char*, double>>& parts) {
  record::Accounting made;
  for (const auto& [name, part_s] : parts) {
    made.parts.push_back({.name = name, .seconds = part_s, .low_s = part_s, .high_s = part_s});
    made.step_s += part_s;
  }
  return made;
}

TEST(Judge, NamesTheLargestPartOfTheExcess) {
  const Judged found =
      judged(of_parts({{"compute", 0.25}, {"slow_link", 0.6}, {"bandwidth", 0.1}}), 0);
  EXPECT_EQ(found.cause, "slow_link");
  EXPECT_DOUBLE_EQ(found.cost_s, 0.6);
  EXPECT_DOUBLE_EQ(found.network_s, 0.7);
  EXPECT_NEAR(found.confidence, 0.99, 1e-9);
}

TEST(Judge, SaysThatItIsComputing) {
  const Judged found = judged(of_parts({{"compute", 0.9}, {"bandwidth", 0.1}}), 0);
  EXPECT_EQ(found.cause, "compute");
  EXPECT_DOUBLE_EQ(found.cost_s, 0.9);
}

// Bandwidth is part of every step; a late rank that costs as much, or half of it, is not.
TEST(Judge, NamesWhatCouldBeAvoidedEarlier) {
  EXPECT_EQ(judged(of_parts({{"compute", 0.3}, {"late_rank", 0.25}, {"bandwidth", 0.45}}), 0).cause,
            "late_rank");
  EXPECT_EQ(judged(of_parts({{"compute", 0.85}, {"late_rank", 0.15}}), 0).cause, "late_rank");
  EXPECT_EQ(judged(of_parts({{"compute", 0.85}, {"bandwidth", 0.15}}), 0).cause, "compute");
}

TEST(Judge, NamesNothingThatDoesNotExplainEnough) {
  const Judged equal =
      judged(of_parts({{"compute", 0.2}, {"loss", 0.4}, {"cross_traffic", 0.35}}), 0);
  EXPECT_EQ(equal.cause, "unknown");
  EXPECT_EQ(equal.confidence, 0);
  ASSERT_EQ(equal.largest.size(), 2U);
  EXPECT_EQ(equal.largest[0].name, "loss");
  EXPECT_EQ(judged(of_parts({{"compute", 0.3}, {"loss", 0.4}, {"unexplained", 0.3}}), 0).cause,
            "unknown");
  EXPECT_EQ(judged({}, 0).cause, "unknown");
}

// Large enough for a cause, and perhaps only half of that: transfer is named, without certainty.
TEST(Judge, TellsBesideWhatIsLargeAndNotSure) {
  record::Accounting parts = of_parts({{"compute", 0.1}, {"bandwidth", 0.6}, {"other_job", 0.3}});
  parts.parts[2].low_s = 0.15;
  const Judged found = judged(parts, 0);
  EXPECT_EQ(found.cause, "bandwidth");
  ASSERT_TRUE(found.beside);
  EXPECT_EQ(found.beside->name, "other_job");
  EXPECT_LT(found.confidence, 0.5);
  EXPECT_FALSE(judged(of_parts({{"compute", 0.2}, {"bandwidth", 0.8}}), 0).beside);
}

TEST(Judge, IsLessSureWhereSimulationAndMeasurementDisagree) {
  const record::Accounting parts = of_parts({{"compute", 0.2}, {"bandwidth", 0.8}});
  EXPECT_NEAR(judged(parts, 0).confidence, 0.99, 1e-9);
  EXPECT_NEAR(judged(parts, 0.2).confidence, 0.8, 1e-9);
}

// The link alone would save 0.1 s of the 0.5 s, the other 0.4 s one would wait for the late rank.
TEST(Judge, IsNotSureOfWhatGainsLittle) {
  const Judged found =
      judged(of_parts({{"compute", 0.3}, {"slow_link", 0.5}, {"late_rank", 0.2}}), 0);
  EXPECT_FALSE(doubted(found, 0.3).is_hidden);
  const Judged hidden = doubted(found, 0.1);
  EXPECT_TRUE(hidden.is_hidden);
  EXPECT_EQ(hidden.hider, "late_rank");
  EXPECT_LT(hidden.confidence, 0.5);
  // Twice the rate is to save half of the transfer.
  const Judged transfer = judged(of_parts({{"bandwidth", 0.8}, {"latency", 0.2}}), 0);
  EXPECT_FALSE(doubted(transfer, 0.3).is_hidden);
  EXPECT_EQ(doubted(transfer, 0.1).hider, "latency");
}

}  // namespace
}  // namespace tw::account
