// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/saturation.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/weighted_fit.h"

#include <Eigen/Dense>
#include <boost/math/tools/minima.hpp>
#include <fmt/format.h>
#include <unsupported/Eigen/NonLinearOptimization>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace tw::stats {
namespace {

constexpr std::array kFamilies{0.5, 1.0, 2.0};
constexpr double kSmallestN = 0.05;
constexpr double kLargestN = 8;

using Columns = std::vector<std::vector<double>>;

/// The curve as ln t = ln A + b r^n with r = C / (C - x) and b = B / C^n, in the parameters that
/// are fitted: (ln A, b) or, with n among them, (ln A, ln b, n).
struct Curve {
  bool n_is_fitted;
  double n;  ///< when it is not

  std::size_t parameters() const { return n_is_fitted ? 3 : 2; }
  double exponent(std::span<const double> at) const { return n_is_fitted ? at[2] : n; }
  double slope(std::span<const double> at) const { return n_is_fitted ? std::exp(at[1]) : at[1]; }
  double log_time(std::span<const double> at, double r) const {
    return at[0] + slope(at) * std::pow(r, exponent(at));
  }
  /// Of ln t, by the parameters.
  std::array<double, 3> gradient(std::span<const double> at, double r) const {
    const double power = std::pow(r, exponent(at));
    if (!n_is_fitted) return {1, power, 0};
    const double term = slope(at) * power;
    return {1, term, term * std::log(r)};
  }
};

struct Data {
  std::vector<double> r = {};
  std::vector<double> t = {};
  std::vector<double> log_t = {};
  Space space;
};

struct Solution {
  Curve curve;
  std::vector<double> at;
  double ssr;
};

/// What `eigen` minimises: residuals of t.
struct Residuals {
  const Data& data;
  Curve curve;

  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  int inputs() const { return static_cast<int>(curve.parameters()); }
  int values() const { return static_cast<int>(data.t.size()); }
  static std::span<const double> view(const InputType& at) {
    return {at.data(), static_cast<std::size_t>(at.size())};
  }
  int operator()(const InputType& at, ValueType& residual) const {
    for (std::size_t i = 0; i < data.t.size(); ++i) {
      residual[static_cast<Eigen::Index>(i)] =
          std::exp(curve.log_time(view(at), data.r[i])) - data.t[i];
    }
    return 0;
  }
  int df(const InputType& at, JacobianType& jacobian) const {
    for (std::size_t i = 0; i < data.t.size(); ++i) {
      const double time = std::exp(curve.log_time(view(at), data.r[i]));
      const auto gradient = curve.gradient(view(at), data.r[i]);
      for (std::size_t j = 0; j < curve.parameters(); ++j) {
        jacobian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = time * gradient[j];
      }
    }
    return 0;
  }
};

double ssr_of(const Data& data, const Curve& curve, std::span<const double> at) {
  double sum = 0;
  for (std::size_t i = 0; i < data.t.size(); ++i) {
    const double fitted = curve.log_time(at, data.r[i]);
    const double left =
        data.space == Space::Log ? data.log_t[i] - fitted : data.t[i] - std::exp(fitted);
    sum += left * left;
  }
  return sum;
}

/// The exact minimum over ln A and b of the residuals of ln t at a given n.
Solution straight(const Data& data, double n) {
  Columns columns{std::vector<double>(data.r.size(), 1), {}};
  for (const double r : data.r) columns[1].push_back(std::pow(r, n));
  const auto fit = weighted_fit(columns, data.log_t, columns[0]);
  if (!fit) throw DataError("the loads are too near to one another to tell A from B");
  return {.curve = {.n_is_fitted = false, .n = n}, .at = fit->parameters, .ssr = fit->ssr};
}

/// From the log-space minimum to that of t itself, by Levenberg and Marquardt's method.
Solution refined(const Data& data, Solution start) {
  if (data.space == Space::Log) return start;
  Residuals residuals{.data = data, .curve = start.curve};
  Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(
      start.at.data(), static_cast<Eigen::Index>(start.at.size()));
  Eigen::LevenbergMarquardt<Residuals> search(residuals);
  search.parameters.maxfev = 2000;
  search.minimize(at);
  if (!at.allFinite()) throw DataError("residuals of t have no minimum; fit in log space instead");
  start.at.assign(at.data(), at.data() + at.size());
  start.ssr = ssr_of(data, start.curve, start.at);
  return start;
}

/// n fitted: a search over n alone, the other two being exact at each, and from there as above.
Solution with_fitted_n(const Data& data) {
  const auto left = [&](double log_n) { return straight(data, std::exp(log_n)).ssr; };
  // The profile may have a second minimum at an end; a coarse walk finds the right valley.
  constexpr int kSteps = 40;
  const double low = std::log(kSmallestN);
  const double step = (std::log(kLargestN) - low) / kSteps;
  int best = 0;
  for (int i = 1; i <= kSteps; ++i) {
    if (left(low + i * step) < left(low + best * step)) best = i;
  }
  if (best == 0 || best == kSteps) {
    throw DataError(
        fmt::format("the points do not determine n: every value {} {} fits as well; fix it",
                    best == 0 ? "below" : "above", best == 0 ? kSmallestN : kLargestN));
  }
  const double n = std::exp(boost::math::tools::brent_find_minima(left, low + (best - 1) * step,
                                                                  low + (best + 1) * step, 40)
                                .first);
  const Solution line = straight(data, n);
  if (line.at[1] <= 0) throw DataError("times do not rise with the load, so n means nothing");
  return refined(data, {.curve = {.n_is_fitted = true, .n = n},
                        .at = {line.at[0], std::log(line.at[1]), n},
                        .ssr = line.ssr});
}

void require_fittable(std::span<const double> loads, std::span<const double> times,
                      const SaturationOptions& options) {
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!std::isfinite(loads[i]) || loads[i] >= options.capacity) {
      throw DataError(fmt::format("point {}: a load of {:.6g} is not below the capacity of {:.6g}",
                                  i + 1, loads[i], options.capacity));
    }
    if (!std::isfinite(times[i]) || times[i] <= 0) {
      throw DataError(fmt::format("point {}: {:.6g} is no positive time", i + 1, times[i]));
    }
  }
  const std::size_t different = std::set<double>(loads.begin(), loads.end()).size();
  const std::size_t needed = options.exponent == Exponent::Fixed ? 3 : 4;
  if (different < needed) {
    throw DataError(fmt::format("{} different load{} cannot carry this curve: it needs {}{}",
                                different, different == 1 ? "" : "s", needed,
                                needed == 4 ? ", or 3 when n is fixed" : "; measure more"));
  }
  if (std::all_of(times.begin(), times.end(), [&](double t) { return t == times.front(); })) {
    throw DataError(fmt::format("all times are {:.6g}: there is no rise to fit", times.front()));
  }
}

/// The best curve of those that the options allow.
Solution solved(const Data& data, const SaturationOptions& options,
                std::vector<TriedExponent>& tried) {
  if (options.exponent == Exponent::Fitted) return with_fitted_n(data);
  std::vector<double> values{options.fixed};
  if (options.exponent == Exponent::Chosen) values.assign(kFamilies.begin(), kFamilies.end());
  std::optional<Solution> best;
  for (const double n : values) {
    Solution one = refined(data, straight(data, n));
    tried.push_back({.n = n, .ssr = one.ssr});
    if (!best || one.ssr < best->ssr) best = std::move(one);
  }
  return *std::move(best);
}

/// R squared in either space.
struct Explained {
  double linear;
  double log;
};
Explained explained_by(const Data& data, const Solution& solution) {
  std::vector<double> fitted;
  std::vector<double> log_fitted;
  for (const double r : data.r) {
    log_fitted.push_back(solution.curve.log_time(solution.at, r));
    fitted.push_back(std::exp(log_fitted.back()));
  }
  return {.linear = r_squared(data.t, fitted), .log = r_squared(data.log_t, log_fitted)};
}

/// Covariance from the curve's tangent plane at the solution.
std::vector<double> covariance_of(const Data& data, const Solution& solution, double variance) {
  const std::size_t count = solution.curve.parameters();
  Columns columns(count);
  for (const double r : data.r) {
    const auto gradient = solution.curve.gradient(solution.at, r);
    const double unit =
        data.space == Space::Log ? 1 : std::exp(solution.curve.log_time(solution.at, r));
    for (std::size_t j = 0; j < count; ++j) columns[j].push_back(unit * gradient[j]);
  }
  const std::vector<double> even(data.r.size(), 1);
  const auto tangent = weighted_fit(columns, data.t, even);
  if (!tangent) throw DataError("the points do not determine all parameters; fix n");
  std::vector<double> covariance = tangent->covariance;
  for (double& one : covariance) one *= variance;
  return covariance;
}

/// Variance of the sum of the parameters, each times its factor.
double variance_of(std::span<const double> covariance, std::span<const double> factors) {
  double sum = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    for (std::size_t j = 0; j < factors.size(); ++j) {
      sum += factors[i] * factors[j] * covariance[i * factors.size() + j];
    }
  }
  return std::max(sum, 0.0);
}

/// An estimate of exp(value) from that of `value`.
Estimate exponential(double value, double half, const Estimate& like) {
  return {.value = std::exp(value),
          .low = std::exp(value - half),
          .high = std::exp(value + half),
          .confidence = like.confidence,
          .n = like.n};
}

void set_parameters(SaturationFit& fit, const Solution& solution, const Estimate& like) {
  const double factor = t_factor(like.confidence, fit.degrees_of_freedom);
  const auto half = [&](const std::vector<double>& factors) {
    return factor * std::sqrt(variance_of(fit.covariance, factors));
  };
  const double log_c = std::log(fit.capacity);
  const double n = solution.curve.exponent(solution.at);
  fit.n = fit.b = like;
  fit.n.value = fit.n.low = fit.n.high = n;
  if (solution.curve.n_is_fitted) {
    // ln B = ln b + n ln C.
    fit.a = exponential(solution.at[0], half({1, 0, 0}), like);
    fit.b = exponential(solution.at[1] + n * log_c, half({0, 1, log_c}), like);
    fit.n.low = n - half({0, 0, 1});
    fit.n.high = n + half({0, 0, 1});
    return;
  }
  const double unit = std::pow(fit.capacity, n);
  fit.a = exponential(solution.at[0], half({1, 0}), like);
  fit.b.value = solution.at[1] * unit;
  fit.b.low = (solution.at[1] - half({0, 1})) * unit;
  fit.b.high = (solution.at[1] + half({0, 1})) * unit;
}

/// The parameters in which the covariance is kept, back from the estimates.
std::vector<double> parameters_of(const SaturationFit& fit) {
  const double b = fit.b.value / std::pow(fit.capacity, fit.n.value);
  if (fit.exponent != Exponent::Fitted) return {std::log(fit.a.value), b};
  return {std::log(fit.a.value), std::log(b), fit.n.value};
}

}  // namespace

double rescaled(double x, double capacity) {
  check(x < capacity, "a load lies below the capacity");
  return capacity / (capacity - x);
}

SaturationFit fit_saturation(std::span<const double> loads, std::span<const double> times,
                             const SaturationOptions& options) {
  check(loads.size() == times.size() && options.capacity > 0, "each load has a time");
  require_fittable(loads, times, options);
  Data data{.space = options.space};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    data.r.push_back(rescaled(loads[i], options.capacity));
    data.t.push_back(times[i]);
    data.log_t.push_back(std::log(times[i]));
  }
  std::vector<TriedExponent> tried;
  const Solution best = solved(data, options, tried);
  const auto [from, to] = std::minmax_element(loads.begin(), loads.end());
  const Estimate like{
      .value = 0, .low = 0, .high = 0, .confidence = options.confidence, .n = loads.size()};
  const Explained explained = explained_by(data, best);
  const auto freedom = static_cast<double>(loads.size() - best.curve.parameters());
  const double variance = best.ssr / freedom;
  SaturationFit fit{.a = like,
                    .b = like,
                    .n = like,
                    .capacity = options.capacity,
                    .exponent = options.exponent,
                    .space = options.space,
                    .r_squared = explained.linear,
                    .r_squared_log = explained.log,
                    .residual_deviation = std::sqrt(variance),
                    .points = loads.size(),
                    .degrees_of_freedom = freedom,
                    .valid_from = *from,
                    .valid_to = std::min(*to, options.capacity * (1 - kAsymptoteMargin)),
                    .tried = std::move(tried),
                    .covariance = covariance_of(data, best, variance)};
  set_parameters(fit, best, like);
  return fit;
}

std::optional<std::string> refusal(const SaturationFit& fit, double x) {
  const double below = fit.valid_from - kMarginBelow * (fit.valid_to - fit.valid_from);
  if (!std::isfinite(x)) return "it is no number";
  if (x > fit.valid_to) {
    return fmt::format(
        "the curve holds up to {:.6g}; beyond it lies the asymptote at {:.6g}, where it says "
        "nothing: measure there",
        fit.valid_to, fit.capacity);
  }
  if (x < below) {
    return fmt::format("the curve holds from {:.6g} on, the smallest load measured",
                       fit.valid_from);
  }
  return {};
}

Estimate evaluate(const SaturationFit& fit, double x) {
  if (const auto reason = refusal(fit, x)) {
    throw DataError(fmt::format("reading the curve at {:.6g}: {}", x, *reason));
  }
  const Curve curve{.n_is_fitted = fit.exponent == Exponent::Fitted, .n = fit.n.value};
  const std::vector<double> at = parameters_of(fit);
  const double r = rescaled(x, fit.capacity);
  const auto gradient = curve.gradient(at, r);
  const double half =
      t_factor(fit.a.confidence, fit.degrees_of_freedom) *
      std::sqrt(variance_of(fit.covariance, std::span(gradient).first(curve.parameters())));
  return exponential(curve.log_time(at, r), half, fit.a);
}

}  // namespace tw::stats
