// SPDX-License-Identifier: Apache-2.0
// Least squares in a few parameters when the relative precision of each observation is known: the
// step that the curve fits of this module repeat. Regression with all its tests is in ols.h.

#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tw::stats {

struct WeightedFit {
  std::vector<double> parameters;  ///< one a column
  /// Of the parameters, row by row, for a residual variance of 1: times ssr / degrees of freedom it
  /// is the estimated one.
  std::vector<double> covariance;
  double ssr;  ///< weighted sum of squared residuals
};

/// Minimises the sum of weights[i] * (y[i] - sum over j of parameters[j] * columns[j][i])^2.
/// Nothing when the columns depend on one another. REQUIRES: at least one column, all as long as y
/// and weights; weights positive.
std::optional<WeightedFit> weighted_fit(std::span<const std::vector<double>> columns,
                                        std::span<const double> y, std::span<const double> weights);

/// Half the width of a two-sided Student interval in standard errors.
/// REQUIRES: 0 < confidence < 1, degrees_of_freedom > 0.
double t_factor(double confidence, double degrees_of_freedom);

/// The share of the squared deviations from the mean that `fitted` explains: 1 is all; negative
/// when the mean would do better. REQUIRES: as many fitted as y, and y not all equal.
double r_squared(std::span<const double> y, std::span<const double> fitted);

}  // namespace tw::stats
