// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/binomial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tw::measure {
namespace {

TEST(BinomialInterval, OfNoEventsHasAClosedForm) {
  // P(0 events | p) = (1-p)^n reaches the tail 0.005 at p = 1 - 0.005^(1/n).
  for (const std::uint64_t n : {1, 10, 2000, 1'000'000}) {
    const ShareInterval interval = binomial_interval(0, n);
    const double high = 1 - std::pow(0.005, 1 / static_cast<double>(n));
    EXPECT_EQ(interval.low, 0);
    EXPECT_NEAR(interval.high / high, 1, 1e-9) << n;
    // Counting the others is the mirror image.
    EXPECT_NEAR(binomial_interval(n, n).low, 1 - high, 1e-12) << n;
    EXPECT_EQ(binomial_interval(n, n).high, 1);
  }
}

TEST(BinomialInterval, IsThePublishedOne) {
  // 10 of 100 at 95 %: 0.0490 to 0.1762 (the example of many textbooks).
  const ShareInterval interval = binomial_interval(10, 100, 0.95);
  EXPECT_NEAR(interval.low, 0.0490, 5e-5);
  EXPECT_NEAR(interval.high, 0.1762, 5e-5);
}

TEST(BinomialInterval, NarrowsAroundTheShareLikeTheNormalOneForManyTrials) {
  // 1 % of 1,000,000: 2.5758 standard deviations of sqrt(0.01 * 0.99 / n) = 0.0000995. The skewness
  // that the normal distribution lacks moves both ends up by about (z^2 + 2) / 3n = 3e-6.
  const ShareInterval interval = binomial_interval(10'000, 1'000'000);
  EXPECT_NEAR(interval.low, 0.01 - 2.5758 * 0.0000995, 4e-6);
  EXPECT_NEAR(interval.high, 0.01 + 2.5758 * 0.0000995, 4e-6);
  EXPECT_TRUE(contains(interval, 0.0102));
  EXPECT_FALSE(contains(interval, 0.0103));
  EXPECT_FALSE(contains(interval, 0.0097));
}

TEST(BinomialInterval, OneLossRulesOutALineWithoutLoss) {
  EXPECT_FALSE(contains(binomial_interval(1, 20'000), 0));
  EXPECT_TRUE(contains(binomial_interval(0, 20'000), 0));
}

TEST(BinomialInterval, RefusesWhatIsNoShare) {
  EXPECT_THROW(binomial_interval(2, 1), std::logic_error);
  EXPECT_THROW(binomial_interval(0, 0), std::logic_error);
  EXPECT_THROW(binomial_interval(0, 1, 1), std::logic_error);
}

}  // namespace
}  // namespace tw::measure
