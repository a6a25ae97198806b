// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/estimate.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace tw::stats {
namespace {

TEST(MedianEstimate, OfEqualValuesHasNoWidth) {
  const std::vector<double> values(20, 3.5);
  EXPECT_EQ(median_estimate(values),
            (Estimate{.value = 3.5, .low = 3.5, .high = 3.5, .confidence = 0.95, .n = 20}));
}

TEST(MedianEstimate, OfTwoValuesGivesTheirRange) {
  const std::vector<double> values{2, 1};
  const Estimate estimate = median_estimate(values);
  EXPECT_DOUBLE_EQ(estimate.low, 1);
  EXPECT_DOUBLE_EQ(estimate.high, 2);
}

TEST(MedianEstimate, IsTheSameEachTime) {
  const std::vector<double> values{5, 1, 4, 2, 3, 9, 7};
  EXPECT_EQ(median_estimate(values), median_estimate(values));
}

TEST(MedianEstimate, RefusesAnEmptySeries) { EXPECT_THROW(median_estimate({}), std::logic_error); }

// 200 series of 60 normal values each: the interval should hold the true median 0 in about 95 % of
// them. Small-sample bootstrap intervals are a little narrow: 88 % or more is asked.
TEST(MedianEstimate, CoversTheTruthAboutAsOftenAsItSays) {
  Random random(7, "coverage");
  int covered = 0;
  for (int series = 0; series < 200; ++series) {
    std::vector<double> values;
    for (int i = 0; i < 60; ++i) values.push_back(random.normal());
    const Estimate estimate = median_estimate(values);
    covered += estimate.low <= 0 && estimate.high >= 0 ? 1 : 0;
  }
  EXPECT_GE(covered, 176);
}

// An autoregressive series (each value 0.8 of the one before plus noise) carries less information
// than independent values of the same spread, so its interval must be wider than that of the same
// values in random order.
TEST(MedianEstimate, IsWiderForASeriesThatDrifts) {
  Random random(11, "drift");
  std::vector<double> series{0};
  for (int i = 1; i < 400; ++i) series.push_back(0.8 * series.back() + random.normal());
  std::vector<double> shuffled = series;
  for (std::size_t i = shuffled.size() - 1; i > 0; --i) {
    std::swap(shuffled[i], shuffled[random.below(i + 1)]);
  }
  const Estimate drifting = median_estimate(series);
  const Estimate independent = median_estimate(shuffled);
  EXPECT_GT(drifting.high - drifting.low, 1.2 * (independent.high - independent.low));
}

}  // namespace
}  // namespace tw::stats
