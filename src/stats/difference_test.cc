// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/difference.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tw::stats {
namespace {

constexpr Wording kSteps{.higher = "slower", .lower = "faster", .noun = "steps"};

/// `n` values about `mean`, each `phi` of the deviation of the one before plus noise, with a
/// deviation of 5 % of the mean.
std::vector<double> series(Random& random, int n, double mean, double phi) {
  std::vector<double> values;
  double deviation = random.normal();
  for (int i = 0; i < n; ++i) {
    deviation = phi * deviation + std::sqrt(1 - phi * phi) * random.normal();
    values.push_back(mean * (1 + 0.05 * deviation));
  }
  return values;
}

// 200 values with a deviation of 5 % in each run: the error of the difference is 5 % * sqrt(2 /
// 200) = 0.5 %, so 10 % more is 20 errors away, and the interval is within 4 errors of 10 %.
TEST(Difference, FindsARunThatIsSlower) {
  Random random(1, "slower");
  const std::vector<double> a = series(random, 200, 0.100, 0);
  const std::vector<double> b = series(random, 200, 0.110, 0);
  for (const Statistic statistic : {Statistic::Mean, Statistic::Median}) {
    const Difference found = difference(a, b, {.statistic = statistic});
    EXPECT_EQ(found.verdict, Verdict::Higher);
    EXPECT_NEAR(found.relative.value, 0.10, 0.025);
    EXPECT_LT(found.p, 1e-6);
    EXPECT_THAT(in_words(found, kSteps), testing::StartsWith("slower by "));
  }
}

// ln(b / a) = -ln(a / b), and the errors are the same.
TEST(Difference, IsTheSameWhicheverIsTheBaseline) {
  Random random(2, "swap");
  const std::vector<double> a = series(random, 40, 1, 0.5);
  const std::vector<double> b = series(random, 60, 1.02, 0.5);
  const Difference forth = difference(a, b);
  const Difference back = difference(b, a);
  EXPECT_NEAR(1 + forth.relative.value, 1 / (1 + back.relative.value), 1e-12);
  EXPECT_NEAR(1 + forth.relative.low, 1 / (1 + back.relative.high), 1e-12);
  EXPECT_NEAR(forth.p, back.p, 1e-12);
}

TEST(Difference, OfARunWithItselfIsNoEvidence) {
  Random random(3, "self");
  const std::vector<double> a = series(random, 50, 1, 0.3);
  const Difference found = difference(a, a);
  EXPECT_EQ(found.verdict, Verdict::NoEvidence);
  EXPECT_DOUBLE_EQ(found.relative.value, 0);
  EXPECT_DOUBLE_EQ(found.p, 1);
  EXPECT_EQ(in_words(found, kSteps), "no evidence of a difference");
}

// A simulator repeats itself: no spread, so any difference is one.
TEST(Difference, OfSeriesWithoutSpreadIsExact) {
  const std::vector<double> a(10, 0.200);
  const std::vector<double> b(10, 0.190);
  const Difference found = difference(a, b);
  EXPECT_EQ(found.verdict, Verdict::Lower);
  EXPECT_LT(found.p, 1e-12);
  EXPECT_EQ(in_words(found, kSteps), "faster by 5.00 % [5.00, 5.00]");
}

TEST(Difference, SaysWhenThereAreTooFew) {
  const std::vector<double> a{1, 1.1, 0.9};
  const std::vector<double> b{2, 2.1, 1.9, 2, 2, 2};
  const Difference found = difference(a, b);
  EXPECT_EQ(found.verdict, Verdict::TooFew);
  EXPECT_EQ(in_words(found, kSteps), "too few steps to tell (n = 3, 5 needed)");
  EXPECT_EQ(difference(a, std::vector<double>{2}).verdict, Verdict::TooFew);
}

TEST(Difference, AsksMoreStepsForATail) {
  Random random(4, "tail");
  const std::vector<double> a = series(random, 367, 1, 0);
  const std::vector<double> b = series(random, 400, 2, 0);
  EXPECT_EQ(difference(a, b, {.statistic = Statistic::P99}).verdict, Verdict::TooFew);
  const std::vector<double> longer = series(random, 368, 1, 0);
  EXPECT_EQ(difference(longer, b, {.statistic = Statistic::P99}).verdict, Verdict::Higher);
}

/// How many of 100 pairs of series that differ by chance alone are called different.
int called_different(int n, double phi, Statistic statistic) {
  Random random(5, "null");
  int called = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const std::vector<double> a = series(random, n, 1, phi);
    const std::vector<double> b = series(random, n, 1, phi);
    const Difference found = difference(a, b, {.statistic = statistic});
    called += found.verdict == Verdict::NoEvidence ? 0 : 1;
  }
  return called;
}

// A test at 5 % may call 5 of 100 equal pairs different, 12 with three deviations. Of series whose
// neighbours are correlated by 0.5 a plain Welch test calls about 26: its errors are 1 / sqrt(3) of
// the true ones, 2 * Phi(-1.96 / 1.73).
TEST(Difference, SeldomCallsEqualRunsDifferent) {
  EXPECT_LE(called_different(10, 0, Statistic::Mean), 12);
  EXPECT_LE(called_different(10, 0, Statistic::Median), 12);
  EXPECT_LE(called_different(50, 0.5, Statistic::Mean), 12);
  EXPECT_LE(called_different(50, 0.5, Statistic::Median), 12);
}

TEST(Difference, RefusesWhatIsNotAboveZero) {
  const std::vector<double> good(6, 1);
  const std::vector<double> zero{1, 1, 0, 1, 1, 1};
  const std::vector<double> nan{1, 1, std::numeric_limits<double>::quiet_NaN(), 1, 1, 1};
  EXPECT_THROW(difference(good, zero), DataError);
  EXPECT_THROW(difference(nan, good), DataError);
}

}  // namespace
}  // namespace tw::stats
