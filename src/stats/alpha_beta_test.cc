// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/alpha_beta.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"

#include <gmock/gmock.h>

#include <cmath>

namespace tw::stats {
namespace {

using testing::HasSubstr;

const std::vector<double> kSizes{1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

/// 100 us + 8e-9 s a byte (1 Gbit/s), with relative noise.
std::vector<double> times(double noise, std::uint64_t seed) {
  Random random(seed, "alpha_beta_test");
  std::vector<double> values;
  for (const double size : kSizes) {
    values.push_back((100e-6 + 8e-9 * size) * (1 + noise * random.normal()));
  }
  return values;
}

TEST(AlphaBeta, FindsLatencyAndBandwidth) {
  const AlphaBetaFit fit = fit_alpha_beta(kSizes, times(0, 1));
  EXPECT_NEAR(fit.alpha_s.value, 100e-6, 1e-10);
  EXPECT_NEAR(fit.beta_s_per_byte.value, 8e-9, 1e-15);
  ASSERT_TRUE(fit.bandwidth_bps);
  EXPECT_NEAR(fit.bandwidth_bps->value, 1e9, 1e3);
  EXPECT_NEAR(fit.r_squared, 1, 1e-9);
  EXPECT_NEAR(fit.r_squared_log, 1, 1e-9);
  EXPECT_EQ(fit.valid_to, 1e8);
}

TEST(AlphaBeta, IntervalsHoldTheTruthAsOftenAsTheySay) {
  // Deviation of a share of 400 at 95 %: 1.1 %.
  int alpha = 0;
  int beta = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const AlphaBetaFit fit = fit_alpha_beta(kSizes, times(0.05, seed));
    alpha += fit.alpha_s.low <= 100e-6 && 100e-6 <= fit.alpha_s.high;
    beta += fit.bandwidth_bps->low <= 1e9 && 1e9 <= fit.bandwidth_bps->high;
  }
  EXPECT_THAT(alpha / 400.0, testing::AllOf(testing::Gt(0.91), testing::Lt(0.99)));
  EXPECT_THAT(beta / 400.0, testing::AllOf(testing::Gt(0.91), testing::Lt(0.99)));
}

TEST(AlphaBeta, SmallExchangesDecideAlphaThoughLargeOnesAreNoisier) {
  // 5 % of 0.8 s is 400 times alpha: without weights alpha would be lost.
  const AlphaBetaFit fit = fit_alpha_beta(kSizes, times(0.05, 3));
  EXPECT_NEAR(fit.alpha_s.value, 100e-6, 20e-6);
}

TEST(AlphaBeta, IsReadBetweenItsSizesOnly) {
  // 100 us + 8e-9 * 5e4 = 500 us.
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Estimate at = evaluate(fit_alpha_beta(kSizes, times(0.05, seed)), 5e4);
    held += at.low <= 500e-6 && 500e-6 <= at.high;
  }
  EXPECT_THAT(held / 400.0, testing::AllOf(testing::Gt(0.91), testing::Lt(0.99)));
  EXPECT_THROW(evaluate(fit_alpha_beta(kSizes, times(0, 1)), 2e8), DataError);
}

TEST(AlphaBeta, TimesThatFallHaveNoBandwidth) {
  const std::vector<double> sizes{1, 2, 3};
  EXPECT_FALSE(fit_alpha_beta(sizes, std::vector<double>{3, 2.1, 1}).bandwidth_bps);
}

TEST(AlphaBeta, BandwidthIsOpenAboveWhenBetaMayBeZero) {
  const std::vector<double> sizes{1, 2, 3, 4};
  const AlphaBetaFit fit = fit_alpha_beta(sizes, std::vector<double>{1, 1.2, 0.9, 1.1});
  ASSERT_TRUE(fit.bandwidth_bps);
  EXPECT_TRUE(std::isinf(fit.bandwidth_bps->high));
}

std::string refused(const std::vector<double>& sizes, const std::vector<double>& values) {
  try {
    fit_alpha_beta(sizes, values);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AlphaBeta, RefusesWhatCarriesNoLine) {
  EXPECT_THAT(refused({1, 2}, {1, 2}), HasSubstr("2 points of 2 sizes"));
  EXPECT_THAT(refused({1, 1, 1}, {1, 2, 3}), HasSubstr("3 points of 1 sizes"));
  EXPECT_THAT(refused({1, 2, -3}, {1, 2, 3}), HasSubstr("point 3: -3 is no size"));
  EXPECT_THAT(refused({1, 2, 3}, {1, 2, 0}), HasSubstr("no positive time"));
  EXPECT_THAT(refused({1, 2, 3}, {2, 2, 2}), HasSubstr("all times are 2"));
}

TEST(AlphaBeta, RefusesTimesThatAreWorldsApart) {
  const std::vector<double> bytes{0, 1e15, 9e15};
  const std::vector<double> times{1e-300, 1e300, 2e300};
  EXPECT_THROW(fit_alpha_beta(bytes, times), DataError);
}

}  // namespace
}  // namespace tw::stats
