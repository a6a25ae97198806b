// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/difference.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/bootstrap.h"
#include "trainwire/stats/distributions.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tw::stats {
namespace {

constexpr std::size_t kFewest = 5;

StatisticOf function_of(Statistic statistic) {
  switch (statistic) {
    case Statistic::Mean:
      return [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) /
               static_cast<double>(values.size());
      };
    case Statistic::Median:
      return median;
    case Statistic::P99:
      return [](std::vector<double> values) { return quantile(std::move(values), 0.99); };
  }
  check(false, "a statistic is one of three");
  return {};
}

Estimate estimate_of(std::span<const double> values, const DifferenceOptions& options) {
  const BootstrapOptions bootstrap{.confidence = options.confidence, .seed = options.seed};
  switch (options.statistic) {
    case Statistic::Mean:
      return mean_estimate(values, options.confidence);
    case Statistic::Median:
      return median_estimate(values, bootstrap);
    case Statistic::P99:
      return quantile_estimate(values, 0.99, bootstrap);
  }
  check(false, "a statistic is one of three");
  return {};
}

/// Variance of the logarithm of a statistic, and how many degrees of freedom it was found with.
struct LogError {
  double variance;
  double degrees;
};

LogError log_error(std::span<const double> values, const DifferenceOptions& options) {
  // One value has no error to find; the verdict is TooFew anyway.
  if (values.size() < 2) return {.variance = 0, .degrees = 1};
  const std::size_t block = block_length(values);
  const double blocks = static_cast<double>(values.size()) / static_cast<double>(block);
  const int count = static_cast<int>(std::clamp<std::size_t>(10'000'000 / values.size(), 100, 500));
  // Both series draw from the same stream: swapped, they give the same errors.
  Random random(options.seed, "difference");
  std::vector<double> logs =
      replicates(values, function_of(options.statistic), count, block, random);
  for (double& each : logs) each = std::log(each);
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
  double squares = 0;
  for (const double each : logs) squares += (each - mean) * (each - mean);
  // Resamples vary about the series at hand, less than series do about the truth: n / (n - 1).
  return {.variance = squares / (count - 1) * blocks / (blocks - 1), .degrees = blocks - 1};
}

/// Welch & Satterthwaite.
double joint_degrees(const LogError& a, const LogError& b) {
  const double sum = a.variance + b.variance;
  if (sum <= 0) return a.degrees + b.degrees;
  return sum * sum / (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees);
}

double two_sided_p(double log_ratio, double error, double degrees) {
  if (log_ratio == 0) return 1;
  if (error <= 0) return 0;
  return 2 * student_tail(degrees, std::abs(log_ratio) / error);
}

void refuse_not_positive(std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && values[i] > 0) continue;
    throw DataError(
        fmt::format("a relative difference needs values above 0: number {} is {}; leave it out",
                    i + 1, values[i]));
  }
}

Verdict verdict_of(const Difference& difference) {
  if (difference.relative.n < difference.needed) return Verdict::TooFew;
  if (difference.relative.low > 0) return Verdict::Higher;
  if (difference.relative.high < 0) return Verdict::Lower;
  return Verdict::NoEvidence;
}

}  // namespace

std::string_view name_of(Statistic statistic) {
  switch (statistic) {
    case Statistic::Mean:
      return "mean";
    case Statistic::Median:
      return "median";
    case Statistic::P99:
      return "p99";
  }
  return "";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Higher:
      return "higher";
    case Verdict::Lower:
      return "lower";
    case Verdict::NoEvidence:
      return "no_evidence";
    case Verdict::TooFew:
      return "too_few";
  }
  return "";
}

std::size_t values_for_difference(Statistic statistic, double confidence) {
  return statistic == Statistic::P99 ? values_for_quantile(0.99, confidence) : kFewest;
}

Difference difference(std::span<const double> baseline, std::span<const double> other,
                      const DifferenceOptions& options) {
  check(!baseline.empty() && !other.empty(), "a difference needs two series");
  refuse_not_positive(baseline);
  refuse_not_positive(other);
  const LogError error_a = log_error(baseline, options);
  const LogError error_b = log_error(other, options);
  const double error = std::sqrt(error_a.variance + error_b.variance);
  const double degrees = joint_degrees(error_a, error_b);
  const double reach = student_quantile(degrees, (1 + options.confidence) / 2) * error;

  Difference found{.baseline = estimate_of(baseline, options),
                   .other = estimate_of(other, options),
                   .relative = {},
                   .p = 1,
                   .needed = values_for_difference(options.statistic, options.confidence),
                   .verdict = Verdict::TooFew};
  const double log_ratio = std::log(found.other.value / found.baseline.value);
  found.relative = {.value = std::expm1(log_ratio),
                    .low = std::expm1(log_ratio - reach),
                    .high = std::expm1(log_ratio + reach),
                    .confidence = options.confidence,
                    .n = std::min(baseline.size(), other.size())};
  found.p = two_sided_p(log_ratio, error, degrees);
  found.verdict = verdict_of(found);
  return found;
}

std::string in_words(const Difference& difference, const Wording& wording) {
  const Estimate& relative = difference.relative;
  if (difference.verdict == Verdict::TooFew) {
    return fmt::format("too few {} to tell (n = {}, {} needed)", wording.noun, relative.n,
                       difference.needed);
  }
  if (difference.verdict == Verdict::NoEvidence) return "no evidence of a difference";
  const bool higher = difference.verdict == Verdict::Higher;
  const double sign = higher ? 100 : -100;
  // As many digits as the interval's width makes worth reading.
  const double width = 100 * (relative.high - relative.low);
  const int digits = width >= 1 ? 1 : 2;
  return fmt::format("{} by {:.{}f} % [{:.{}f}, {:.{}f}]", higher ? wording.higher : wording.lower,
                     sign * relative.value, digits, sign * (higher ? relative.low : relative.high),
                     digits, sign * (higher ? relative.high : relative.low), digits);
}

}  // namespace tw::stats
