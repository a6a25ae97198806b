// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/bootstrap.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw::stats {

double lag_one_correlation(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0) products += (values[i] - mean) * (values[i - 1] - mean);
  }
  return squares > 0 ? products / squares : 0;
}

std::size_t usual_block(std::size_t n) {
  const long rounded = std::lround(std::cbrt(static_cast<double>(n)));
  return static_cast<std::size_t>(std::max(rounded, 1L));
}

std::size_t block_length(std::span<const double> values) {
  const std::size_t usual = usual_block(values.size());
  const std::size_t longest = std::max<std::size_t>(values.size() / 5, 1);
  // Values that alternate (a negative correlation) need no longer blocks.
  const double r = std::clamp(lag_one_correlation(values), 0.0, 0.97);
  const double root = 2 * r / (1 - r * r);
  const double best = 1.1447 * std::cbrt(root * root * static_cast<double>(values.size()));
  return std::min(std::max(usual, static_cast<std::size_t>(std::ceil(best))), longest);
}

std::vector<double> resample(std::span<const double> values, std::size_t block, Random& random) {
  check(block >= 1 && block <= values.size(), "a block is a part of the series");
  std::vector<double> sample;
  sample.reserve(values.size());
  while (sample.size() < values.size()) {
    const std::size_t begin = random.below(values.size() - block + 1);
    const auto drawn = values.subspan(begin, std::min(block, values.size() - sample.size()));
    sample.insert(sample.end(), drawn.begin(), drawn.end());
  }
  return sample;
}

std::vector<double> replicates(std::span<const double> values, const StatisticOf& statistic,
                               int count, std::size_t block, Random& random) {
  std::vector<double> found;
  for (int i = 0; i < count; ++i) found.push_back(statistic(resample(values, block, random)));
  return found;
}

}  // namespace tw::stats
