// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/estimate.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"
#include "trainwire/stats/bootstrap.h"
#include "trainwire/stats/distributions.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace tw::stats {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Estimate range_of(std::span<const double> values, double value, double confidence) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {.value = value, .low = *low, .high = *high, .confidence = confidence, .n = values.size()};
}

/// How many neighbours make a batch.
std::size_t batch_length(std::size_t n) {
  if (n < 20) return 1;
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  if (n < 100) return root;
  return n / std::clamp<std::size_t>(root / 2, 10, 30);
}

/// The batches end with the series; what is left over at its beginning, less than one batch, is in
/// the mean but in no batch.
std::vector<double> batch_means(std::span<const double> values, std::size_t length) {
  std::vector<double> means;
  for (std::size_t begin = values.size() % length; begin < values.size(); begin += length) {
    means.push_back(mean_of(values.subspan(begin, length)));
  }
  return means;
}

/// Blocks favour the middle of a short series, so that its replicates may miss the estimate itself.
Estimate between_tails(double value, std::vector<double> replicates, double confidence,
                       std::size_t n) {
  const double tail = (1 - confidence) / 2;
  return {.value = value,
          .low = std::min(value, quantile(replicates, tail)),
          .high = std::max(value, quantile(std::move(replicates), 1 - tail)),
          .confidence = confidence,
          .n = n};
}

}  // namespace

Estimate mean_estimate(std::span<const double> values, double confidence) {
  check(!values.empty(), "a mean needs values");
  check(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1");
  const double value = mean_of(values);
  if (values.size() < 3) return range_of(values, value, confidence);
  const std::vector<double> batches = batch_means(values, batch_length(values.size()));
  const auto count = static_cast<double>(batches.size());
  const double centre = mean_of(batches);
  double squares = 0;
  for (const double batch : batches) squares += (batch - centre) * (batch - centre);
  const double reach =
      student_quantile(count - 1, (1 + confidence) / 2) * std::sqrt(squares / (count - 1) / count);
  return {.value = value,
          .low = value - reach,
          .high = value + reach,
          .confidence = confidence,
          .n = values.size()};
}

Estimate median_estimate(std::span<const double> values, const BootstrapOptions& options) {
  check(!values.empty(), "a median needs values");
  const double value = median({values.begin(), values.end()});
  if (values.size() < values_for_quantile(0.5, options.confidence)) {
    return range_of(values, value, options.confidence);
  }
  const std::size_t block = std::clamp<std::size_t>(
      options.block > 0 ? options.block : usual_block(values.size()), 1, values.size());
  Random random(options.seed, "median_estimate");
  return between_tails(value, replicates(values, median, options.resamples, block, random),
                       options.confidence, values.size());
}

Estimate quantile_estimate(std::span<const double> values, double p,
                           const BootstrapOptions& options) {
  check(!values.empty(), "a quantile needs values");
  check(p > 0 && p < 1, "a tail lies between 0 and 1");
  const double value = quantile({values.begin(), values.end()}, p);
  const Estimate range = range_of(values, value, options.confidence);
  if (values.size() < 3) return range;
  const std::size_t block = std::clamp<std::size_t>(
      options.block > 0 ? options.block : block_length(values), 1, values.size());
  const auto statistic = [p](std::vector<double> sample) { return quantile(std::move(sample), p); };
  Random random(options.seed, "quantile_estimate");
  Estimate estimate =
      between_tails(value, replicates(values, statistic, options.resamples, block, random),
                    options.confidence, values.size());
  if (values.size() >= values_for_quantile(p, options.confidence)) return estimate;
  if (p >= 0.5) estimate.high = range.high;
  if (p <= 0.5) estimate.low = range.low;
  return estimate;
}

std::size_t values_for_quantile(double p, double confidence) {
  check(p > 0 && p < 1 && confidence > 0 && confidence < 1, "shares lie between 0 and 1");
  return static_cast<std::size_t>(
      std::ceil(std::log((1 - confidence) / 2) / std::log(std::max(p, 1 - p))));
}

}  // namespace tw::stats
