// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/alpha_beta.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/weighted_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace tw::stats {
namespace {

constexpr int kPasses = 4;

void require_fittable(std::span<const double> bytes, std::span<const double> times) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!std::isfinite(bytes[i]) || bytes[i] < 0) {
      throw DataError(fmt::format("point {}: {:.6g} is no size", i + 1, bytes[i]));
    }
    if (!std::isfinite(times[i]) || times[i] <= 0) {
      throw DataError(fmt::format("point {}: {:.6g} is no positive time", i + 1, times[i]));
    }
  }
  const std::size_t different = std::set<double>(bytes.begin(), bytes.end()).size();
  if (bytes.size() < 3 || different < 2) {
    throw DataError(
        fmt::format("{} points of {} sizes cannot carry a line with intervals: it needs 3 points "
                    "of at least 2 sizes",
                    bytes.size(), different));
  }
  if (std::all_of(times.begin(), times.end(), [&](double t) { return t == times.front(); })) {
    throw DataError(fmt::format("all times are {:.6g}: there is nothing to fit", times.front()));
  }
}

/// Relative residuals: each pass weighs by what the one before fitted.
WeightedFit relative_fit(std::span<const std::vector<double>> columns,
                         std::span<const double> times) {
  std::vector<double> scale(times.begin(), times.end());
  std::vector<double> weights(times.size());
  WeightedFit fit{};
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i < times.size(); ++i) weights[i] = 1 / (scale[i] * scale[i]);
    const auto found = weighted_fit(columns, times, weights);
    if (!found) throw DataError("sizes or times are too far apart for one line");
    fit = *found;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double fitted = fit.parameters[0] + fit.parameters[1] * columns[1][i];
      if (fitted > 0) scale[i] = fitted;
    }
  }
  return fit;
}

Estimate inverted(const Estimate& beta) {
  return {.value = 8 / beta.value,
          .low = 8 / beta.high,
          .high = beta.low > 0 ? 8 / beta.low : std::numeric_limits<double>::infinity(),
          .confidence = beta.confidence,
          .n = beta.n};
}

double log_r_squared(std::span<const double> times, std::span<const double> fitted) {
  std::vector<double> log_times;
  std::vector<double> log_fitted;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (fitted[i] <= 0) return std::numeric_limits<double>::quiet_NaN();
    log_times.push_back(std::log(times[i]));
    log_fitted.push_back(std::log(fitted[i]));
  }
  return r_squared(log_times, log_fitted);
}

}  // namespace

AlphaBetaFit fit_alpha_beta(std::span<const double> bytes, std::span<const double> times,
                            double confidence) {
  check(bytes.size() == times.size(), "each size has a time");
  require_fittable(bytes, times);
  const std::vector<std::vector<double>> columns{std::vector<double>(bytes.size(), 1),
                                                 {bytes.begin(), bytes.end()}};
  const WeightedFit fit = relative_fit(columns, times);
  const auto freedom = static_cast<double>(bytes.size() - 2);
  const double deviation = std::sqrt(fit.ssr / freedom);
  const double factor = t_factor(confidence, freedom) * deviation;
  const auto estimate = [&](std::size_t i) {
    const double half = factor * std::sqrt(fit.covariance[3 * i]);
    return Estimate{.value = fit.parameters[i],
                    .low = fit.parameters[i] - half,
                    .high = fit.parameters[i] + half,
                    .confidence = confidence,
                    .n = bytes.size()};
  };
  std::vector<double> fitted;
  for (const double size : bytes) fitted.push_back(fit.parameters[0] + fit.parameters[1] * size);
  const auto [from, to] = std::minmax_element(bytes.begin(), bytes.end());
  AlphaBetaFit result{.alpha_s = estimate(0),
                      .beta_s_per_byte = estimate(1),
                      .r_squared = r_squared(times, fitted),
                      .r_squared_log = log_r_squared(times, fitted),
                      .residual_deviation = deviation,
                      .points = bytes.size(),
                      .degrees_of_freedom = freedom,
                      .valid_from = *from,
                      .valid_to = *to,
                      .covariance = deviation * deviation * fit.covariance[1]};
  if (result.beta_s_per_byte.value > 0) result.bandwidth_bps = inverted(result.beta_s_per_byte);
  return result;
}

Estimate evaluate(const AlphaBetaFit& fit, double bytes) {
  if (!(bytes >= fit.valid_from && bytes <= fit.valid_to)) {
    throw DataError(fmt::format("reading the line at {:.6g} bytes: it holds from {:.6g} to {:.6g}",
                                bytes, fit.valid_from, fit.valid_to));
  }
  const double factor = t_factor(fit.alpha_s.confidence, fit.degrees_of_freedom);
  const double alpha_error = (fit.alpha_s.high - fit.alpha_s.value) / factor;
  const double beta_error = (fit.beta_s_per_byte.high - fit.beta_s_per_byte.value) / factor;
  const double variance = alpha_error * alpha_error + 2 * bytes * fit.covariance +
                          bytes * bytes * beta_error * beta_error;
  const double value = fit.alpha_s.value + fit.beta_s_per_byte.value * bytes;
  const double half = factor * std::sqrt(std::max(variance, 0.0));
  return {.value = value,
          .low = value - half,
          .high = value + half,
          .confidence = fit.alpha_s.confidence,
          .n = fit.points};
}

}  // namespace tw::stats
