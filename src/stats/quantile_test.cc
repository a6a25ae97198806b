// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/quantile.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tw::stats {
namespace {

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  // Sorted 1 2 3 4: the 0.25-quantile lies at place 0.25 * 3 = 0.75 between 1 and 2.
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
}

TEST(Quantile, OfOneValueIsThatValue) { EXPECT_DOUBLE_EQ(quantile({7}, 0.3), 7); }

TEST(Quantile, RefusesAnEmptySample) { EXPECT_THROW(quantile({}, 0.5), std::logic_error); }

TEST(Median, LiesBetweenTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median({1, 10}), 5.5);
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
}

TEST(Variation, IsTheDeviationOverTheMean) {
  // 1 and 3: mean 2, deviation sqrt(2).
  EXPECT_NEAR(variation({1, 3}), 0.70710678, 1e-8);
  EXPECT_DOUBLE_EQ(variation({5}), 0);
}

TEST(Usual, IsOfTheMajorityThatLiesClosestTogether) {
  EXPECT_DOUBLE_EQ(usual({7}), 7);
  EXPECT_DOUBLE_EQ(usual({2, 4}), 3);
  // Three of five: 250, 252 and 264.
  EXPECT_DOUBLE_EQ(usual({519, 264, 252, 250, 504}), 252);
  EXPECT_DOUBLE_EQ(usual({1, 2, 3, 4, 5}), 2);  // the first of those that lie equally close
}

}  // namespace
}  // namespace tw::stats
