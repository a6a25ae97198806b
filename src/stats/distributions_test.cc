// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tw::stats {
namespace {

// Student's t with one degree of freedom is Cauchy's: P(T < t) = 1/2 + atan(t)/pi.
TEST(Distributions, StudentWithOneDegreeIsCauchys) {
  EXPECT_NEAR(student_quantile(1, 0.75), 1, 1e-12);
  EXPECT_NEAR(student_upper_quantile(1, 0.25), 1, 1e-12);
  EXPECT_NEAR(student_tail(1, 1), 0.25, 1e-12);
}

// A squared t is F with one degree in the numerator.
TEST(Distributions, FOfOneDegreeIsASquaredT) {
  const double t = student_quantile(7, 0.975);
  EXPECT_NEAR(f_quantile(1, 7, 0.95), t * t, 1e-9);
  EXPECT_NEAR(f_tail(1, 7, t * t), 0.05, 1e-12);
}

// Chi squared with two degrees is exponential with mean two.
TEST(Distributions, ChiSquaredWithTwoDegreesIsExponential) {
  EXPECT_NEAR(chi_squared_tail(2, 3), std::exp(-1.5), 1e-12);
}

// Beta(1, n) has the distribution function 1 - (1 - x)^n; for n = 2 its median is 1 - sqrt(1/2).
TEST(Distributions, BetaOfOneAndTwoHasAKnownMedian) {
  EXPECT_NEAR(beta_quantile(1, 2, 0.5), 1 - std::sqrt(0.5), 1e-12);
}

}  // namespace
}  // namespace tw::stats
