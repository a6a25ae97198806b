// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/histogram.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>

namespace tw::stats {
namespace {

std::size_t fitting_bins(std::span<const double> values, double range) {
  const std::vector<double> all(values.begin(), values.end());
  const auto n = static_cast<double>(all.size());
  const double width = 2 * (quantile(all, 0.75) - quantile(all, 0.25)) / std::cbrt(n);
  const double bins = width > 0 ? std::ceil(range / width) : std::ceil(std::log2(n)) + 1;
  return static_cast<std::size_t>(std::clamp(bins, 1.0, static_cast<double>(kMostBins)));
}

}  // namespace

Histogram histogram(std::span<const double> values, const HistogramOptions& options) {
  check(!values.empty(), "a histogram needs values");
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  check(std::isfinite(*smallest) && std::isfinite(*largest), "a histogram needs finite values");
  const double low = options.low.value_or(*smallest);
  const double high = options.high.value_or(*largest);
  check(low <= high, "a histogram begins before it ends");
  const std::size_t bins =
      low == high ? 1 : options.bins.value_or(fitting_bins(values, high - low));
  check(bins >= 1 && bins <= kMostBins, "a histogram has 1 to 1000 bins");

  Histogram found{.low = low,
                  .width = (high - low) / static_cast<double>(bins),
                  .counts = std::vector<std::size_t>(bins),
                  .below = 0,
                  .above = 0};
  for (const double value : values) {
    if (value < low) {
      ++found.below;
    } else if (value > high) {
      ++found.above;
    } else {
      const double place = found.width > 0 ? (value - low) / found.width : 0;
      ++found.counts[std::min(static_cast<std::size_t>(place), bins - 1)];
    }
  }
  return found;
}

std::vector<double> peak_normalised(const Histogram& histogram) {
  const std::size_t peak = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  std::vector<double> shares;
  for (const std::size_t count : histogram.counts) {
    shares.push_back(peak > 0 ? static_cast<double>(count) / static_cast<double>(peak) : 0);
  }
  return shares;
}

}  // namespace tw::stats
