// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/estimate.h"

#include "trainwire/base/random.h"
#include "trainwire/stats/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// Of every short series: 961 ms with [973, 1035] as its interval is no answer.
TEST(MedianEstimate, LiesInItsInterval) {
  Random random(5, "short");
  for (std::size_t n = 1; n <= 40; ++n) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(i == 0 ? 0.961 : 1 + 0.05 * random.normal());
    const Estimate estimate = median_estimate(values, {.block = 1 + n / 2});
    EXPECT_LE(estimate.low, estimate.value) << n;
    EXPECT_GE(estimate.high, estimate.value) << n;
  }
  EXPECT_EQ(median_estimate(std::vector<double>{3, 1, 2, 5, 4}).low, 1);
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

std::vector<double> autoregression(Random& random, int n, double phi) {
  std::vector<double> series;
  double value = random.normal() / std::sqrt(1 - phi * phi);
  for (int i = 0; i < n; ++i) {
    value = phi * value + random.normal();
    series.push_back(value);
  }
  return series;
}

TEST(MeanEstimate, OfAFewValuesIsStudentsInterval) {
  // 1, 2, 3: mean 2, deviation 1, t(2, 0.975) = 4.302653 over sqrt(3): 2.484138.
  const Estimate estimate = mean_estimate(std::vector<double>{1, 2, 3});
  EXPECT_DOUBLE_EQ(estimate.value, 2);
  EXPECT_NEAR(estimate.high, 4.484138, 1e-6);
  EXPECT_EQ(estimate.n, 3u);
}

TEST(MeanEstimate, OfManyValuesIsThatOfTheirBatches) {
  // 100 values in 10 batches of 10, whose means are 1..10: mean 5.5, squares 82.5, error
  // sqrt(82.5 / 9 / 10) = 0.957427, t(9, 0.975) = 2.262157.
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(1 + i / 10);
  const Estimate estimate = mean_estimate(values);
  EXPECT_DOUBLE_EQ(estimate.value, 5.5);
  EXPECT_NEAR(estimate.high - estimate.value, 2.262157 * 0.957427, 1e-5);
}

TEST(MeanEstimate, OfTwoValuesGivesTheirRange) {
  const Estimate estimate = mean_estimate(std::vector<double>{2, 1});
  EXPECT_DOUBLE_EQ(estimate.low, 1);
  EXPECT_DOUBLE_EQ(estimate.high, 2);
}

TEST(MeanEstimate, RefusesAnEmptySeries) { EXPECT_THROW(mean_estimate({}), std::logic_error); }

// 1000 autoregressions of 0.8 with 400 values each, true mean 0. Taken for independent, their error
// is sqrt((1 - 0.8) / (1 + 0.8)) = 1/3 of the true one and the interval of 1.96 such errors holds
// the truth in 2 * Phi(1.96 / 3) - 1 = 49 %. Batches of 40 leave little correlation: 91 % to 97 %
// are asked.
TEST(MeanEstimate, CoversTheTruthOfACorrelatedSeries) {
  Random random(13, "coverage");
  int covered = 0;
  int naive = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const std::vector<double> values = autoregression(random, 400, 0.8);
    const Estimate estimate = mean_estimate(values);
    covered += estimate.low <= 0 && estimate.high >= 0 ? 1 : 0;
    const double deviation = variation(values) * std::abs(estimate.value);
    naive += std::abs(estimate.value) <= 1.96 * deviation / std::sqrt(400) ? 1 : 0;
  }
  EXPECT_GE(covered, 910);
  EXPECT_LE(covered, 970);
  EXPECT_LE(naive, 560);
}

TEST(ValuesForQuantile, IsWhereTheLargestBoundsIt) {
  // 0.99^367 = 0.02501, 0.99^368 = 0.02476; half: 0.5^5 = 0.031, 0.5^6 = 0.016.
  EXPECT_EQ(values_for_quantile(0.99), 368u);
  EXPECT_EQ(values_for_quantile(0.01), 368u);
  EXPECT_EQ(values_for_quantile(0.5), 6u);
}

TEST(QuantileEstimate, EndsAtTheLargestValueWhenThereAreTooFew) {
  Random random(17, "few");
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(random.exponential(1));
  const Estimate estimate = quantile_estimate(values, 0.99);
  EXPECT_DOUBLE_EQ(estimate.high, *std::max_element(values.begin(), values.end()));
  EXPECT_LE(estimate.low, estimate.value);
  const Estimate low = quantile_estimate(values, 0.01);
  EXPECT_DOUBLE_EQ(low.low, *std::min_element(values.begin(), values.end()));
}

// Exponential values with mean 1: the true p99 is ln 100 = 4.605. 60 series of 500: about 95 % of
// the intervals should hold it; tails of bootstraps are a little narrow: 85 % or more is asked.
TEST(QuantileEstimate, CoversTheTruthAboutAsOftenAsItSays) {
  Random random(19, "tail");
  int covered = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 500; ++i) values.push_back(random.exponential(1));
    const Estimate estimate = quantile_estimate(values, 0.99, {.resamples = 200});
    covered += estimate.low <= 4.605170 && estimate.high >= 4.605170 ? 1 : 0;
  }
  EXPECT_GE(covered, 51);
}

TEST(QuantileEstimate, RefusesAnEmptySeries) {
  EXPECT_THROW(quantile_estimate({}, 0.99), std::logic_error);
}

}  // namespace
}  // namespace tw::stats
