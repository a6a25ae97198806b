// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/quantile.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tw::stats {

double quantile(std::vector<double> values, double p) {
  check(!values.empty() && p >= 0 && p <= 1, "a quantile needs values and a share in 0..1");
  const double place = p * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(std::floor(place));
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const double below = values[static_cast<std::size_t>(low)];
  const double part = place - std::floor(place);
  if (part <= 0) return below;
  const double above = *std::min_element(values.begin() + low + 1, values.end());
  return below + part * (above - below);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double usual(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t most = values.size() / 2 + 1;
  std::size_t first = 0;
  for (std::size_t i = 1; i + most <= values.size(); ++i) {
    if (values[i + most - 1] - values[i] < values[first + most - 1] - values[first]) first = i;
  }
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return median({begin, begin + static_cast<std::ptrdiff_t>(std::min(most, values.size()))});
}

double variation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (mean == 0) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1)) / std::abs(mean);
}

}  // namespace tw::stats
