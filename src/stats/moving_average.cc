// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/moving_average.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::stats {
namespace {

/// How far the window of place `i` of `n` reaches to each side.
std::size_t reach_at(std::size_t i, std::size_t n, std::size_t width) {
  return std::min({width / 2, i, n - 1 - i});
}

/// In order, one a time.
std::vector<CounterSample> distinct(std::span<const CounterSample> samples) {
  std::vector<CounterSample> kept;
  for (const CounterSample& sample : samples) {
    if (!kept.empty() && (sample.at < kept.back().at || sample.total < kept.back().total)) {
      throw DataError(fmt::format(
          "rates over time: at {} the counter shows {} after {} at {}; give its samples in order",
          readable(sample.at), readable(sample.total), readable(kept.back().total),
          readable(kept.back().at)));
    }
    if (!kept.empty() && sample.at == kept.back().at) kept.pop_back();
    kept.push_back(sample);
  }
  return kept;
}

}  // namespace

std::vector<double> moving_average(std::span<const double> values, std::size_t width) {
  check(width >= 1, "a window holds at least one value");
  const std::size_t n = values.size();
  std::vector<double> averages;
  averages.reserve(n);
  // The window slides: each value enters the sum once and leaves it once. Kahan's correction keeps
  // the sum of a long series from drifting.
  double sum = 0;
  double lost = 0;
  const auto take = [&](double value) {
    const double corrected = value - lost;
    const double next = sum + corrected;
    lost = (next - sum) - corrected;
    sum = next;
  };
  std::size_t begin = 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t reach = reach_at(i, n, width);
    while (end < i + reach + 1) take(values[end++]);
    while (begin < i - reach) take(-values[begin++]);
    averages.push_back(sum / static_cast<double>(end - begin));
  }
  return averages;
}

std::vector<RateSample> rates_over_time(std::span<const CounterSample> samples, std::size_t width) {
  check(width >= 1, "a window holds at least one pair of samples");
  const std::vector<CounterSample> kept = distinct(samples);
  std::vector<RateSample> rates;
  for (std::size_t i = 0; i + 1 < kept.size(); ++i) {
    const std::size_t reach = reach_at(i, kept.size() - 1, width);
    const CounterSample& first = kept[i - reach];
    const CounterSample& last = kept[i + reach + 1];
    rates.push_back({.from = kept[i].at,
                     .to = kept[i + 1].at,
                     .rate = (last.total - first.total) / (last.at - first.at)});
  }
  return rates;
}

}  // namespace tw::stats
