// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/estimate.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tw::stats {
namespace {

/// As many values as `values` has, in blocks of `block` that begin anywhere.
std::vector<double> resample(std::span<const double> values, std::size_t block, Random& random) {
  std::vector<double> sample;
  sample.reserve(values.size());
  while (sample.size() < values.size()) {
    const std::size_t begin = random.below(values.size() - block + 1);
    const std::size_t count = std::min(block, values.size() - sample.size());
    for (std::size_t i = 0; i < count; ++i) sample.push_back(values[begin + i]);
  }
  return sample;
}

}  // namespace

Estimate median_estimate(std::span<const double> values, const BootstrapOptions& options) {
  check(!values.empty(), "a median needs values");
  const std::size_t n = values.size();
  const double value = median({values.begin(), values.end()});
  if (n < 3) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {.value = value, .low = *low, .high = *high, .confidence = options.confidence, .n = n};
  }
  const auto usual = static_cast<std::size_t>(std::lround(std::cbrt(static_cast<double>(n))));
  const std::size_t block =
      std::clamp<std::size_t>(options.block > 0 ? options.block : usual, 1, n);
  Random random(options.seed, "median_estimate");
  std::vector<double> medians;
  for (int i = 0; i < options.resamples; ++i) {
    medians.push_back(median(resample(values, block, random)));
  }
  const double tail = (1 - options.confidence) / 2;
  return {.value = value,
          .low = quantile(medians, tail),
          .high = quantile(std::move(medians), 1 - tail),
          .confidence = options.confidence,
          .n = n};
}

}  // namespace tw::stats
