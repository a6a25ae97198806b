// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/weighted_fit.h"

#include <gmock/gmock.h>

#include <cmath>

namespace tw::stats {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(WeightedFit, TakesTheWeightedMeanForAColumnOfOnes) {
  // (1*1 + 3*5) / 4 = 4; squares 1*9 + 3*1 = 12; covariance 1 / sum of weights.
  const std::vector<std::vector<double>> columns{{1, 1}};
  const auto fit = weighted_fit(columns, std::vector<double>{1, 5}, std::vector<double>{1, 3});
  ASSERT_TRUE(fit);
  EXPECT_THAT(fit->parameters, ElementsAre(DoubleNear(4, 1e-12)));
  EXPECT_THAT(fit->covariance, ElementsAre(DoubleNear(0.25, 1e-12)));
  EXPECT_NEAR(fit->ssr, 12, 1e-12);
}

TEST(WeightedFit, FindsALineThroughColumnsOfVeryDifferentSize) {
  // y = 2e-6 + 3e-10 x at sizes up to 1e9.
  const std::vector<std::vector<double>> columns{{1, 1, 1}, {4, 1e5, 1e9}};
  const std::vector<double> y{2e-6 + 3e-10 * 4, 2e-6 + 3e-5, 2e-6 + 0.3};
  const auto fit = weighted_fit(columns, y, std::vector<double>{1e10, 1e8, 10});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->parameters[0], 2e-6, 1e-12);
  EXPECT_NEAR(fit->parameters[1], 3e-10, 1e-16);
}

TEST(WeightedFit, GivesNothingForColumnsThatDepend) {
  const std::vector<std::vector<double>> columns{{1, 1, 1}, {2, 2, 2}};
  const std::vector<double> ones(3, 1);
  EXPECT_FALSE(weighted_fit(columns, std::vector<double>{1, 2, 3}, ones));
}

TEST(WeightedFit, KnowsStudentsQuantiles) {
  // Printed tables: 12.706 for one degree of freedom, 2.228 for ten, at 95 %.
  EXPECT_NEAR(t_factor(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(t_factor(0.95, 10), 2.228, 5e-4);
}

TEST(WeightedFit, RSquaredIsOneForAllAndZeroForTheMean) {
  const std::vector<double> y{1, 2, 3};
  EXPECT_EQ(r_squared(y, y), 1);
  EXPECT_EQ(r_squared(y, std::vector<double>{2, 2, 2}), 0);
}

}  // namespace
}  // namespace tw::stats
