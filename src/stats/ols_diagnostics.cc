// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/ols_diagnostics.h"

#include "trainwire/stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tw::stats {
namespace {

/// Nearer to 1 than this a leverage is 1 but for rounding.
constexpr double kExact = 1e-10;

double sum_of_powers(std::span<const double> values, int power) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value, power);
  return sum;
}

double durbin_watson(std::span<const double> residuals, double squares) {
  double steps = 0;
  for (std::size_t i = 1; i < residuals.size(); ++i) {
    steps += std::pow(residuals[i] - residuals[i - 1], 2);
  }
  return squares > 0 ? steps / squares : 0;
}

/// Residuals have mean 0, so their powers are central moments.
double jarque_bera(std::span<const double> residuals, double squares) {
  if (squares <= 0) return 0;
  const auto n = static_cast<double>(residuals.size());
  const double variance = squares / n;
  const double skewness = sum_of_powers(residuals, 3) / n / std::pow(variance, 1.5);
  const double kurtosis = sum_of_powers(residuals, 4) / n / (variance * variance);
  return n / 6 * (skewness * skewness + (kurtosis - 3) * (kurtosis - 3) / 4);
}

void find_largest_cook(const FitParts& fit, double squares, Diagnostics& into) {
  if (squares <= 0) return;
  const auto n = static_cast<double>(fit.residuals.size());
  const auto parameters = static_cast<double>(fit.parameters);
  const double variance = squares / (n - parameters);
  for (std::size_t row = 0; row < fit.residuals.size(); ++row) {
    const double rest = 1 - fit.leverage[row];
    if (rest < kExact) continue;
    const double cook =
        std::pow(fit.residuals[row] / rest, 2) * fit.leverage[row] / (parameters * variance);
    if (cook <= into.largest_cook) continue;
    into.largest_cook = cook;
    into.largest_cook_row = row;
  }
}

}  // namespace

Diagnostics diagnose(const FitParts& fit) {
  const auto n = static_cast<double>(fit.residuals.size());
  const auto parameters = static_cast<double>(fit.parameters);
  const double squares = sum_of_powers(fit.residuals, 2);
  Diagnostics found{};
  found.durbin_watson = durbin_watson(fit.residuals, squares);
  found.jarque_bera = jarque_bera(fit.residuals, squares);
  found.jarque_bera_p = chi_squared_tail(2, found.jarque_bera);
  found.breusch_pagan = n * fit.squares_r_squared;
  found.breusch_pagan_p =
      fit.parameters > 1 ? chi_squared_tail(parameters - 1, found.breusch_pagan) : 1;
  found.condition_number = fit.condition_number;
  found.largest_leverage = *std::max_element(fit.leverage.begin(), fit.leverage.end());
  find_largest_cook(fit, squares, found);
  found.log_likelihood = -n / 2 * (std::log(2 * std::numbers::pi * squares / n) + 1);
  found.aic = 2 * parameters - 2 * found.log_likelihood;
  found.bic = std::log(n) * parameters - 2 * found.log_likelihood;
  return found;
}

}  // namespace tw::stats
