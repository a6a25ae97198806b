// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/series.h"

#include "trainwire/stats/estimate.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw::attach {
namespace {

constexpr std::size_t kMostCompared = 8192;  ///< samples: what is before them is left out
constexpr std::size_t kLeastSamples = 10;    ///< of a step
constexpr std::size_t kLeastSteps = 4;
constexpr double kAlike = 0.5;  ///< correlation of steps: less is no rhythm
constexpr double kNearlyBest =
    0.9;  ///< of the best correlation: a multiple of a period is as good as the period

/// Correlation of the values with those `lag` later; they have mean 0.
double correlation(std::span<const double> values, std::size_t lag) {
  double product = 0;
  double first = 0;
  double second = 0;
  for (std::size_t i = 0; i + lag < values.size(); ++i) {
    product += values[i] * values[i + lag];
    first += values[i] * values[i];
    second += values[i + lag] * values[i + lag];
  }
  return first > 0 && second > 0 ? product / std::sqrt(first * second) : 0;
}

/// The shortest period nearly as good as the best, and its correlation; 0 without any.
std::pair<std::size_t, double> period_of(std::span<const double> values) {
  const std::size_t longest = values.size() / kLeastSteps;
  std::vector<double> found(longest + 2, 0);
  for (std::size_t lag = 1; lag < found.size(); ++lag) found[lag] = correlation(values, lag);
  std::size_t from = 1;  // neighbours are alike; a period comes after they no longer are
  while (from <= longest && found[from] > 0) ++from;
  from = std::max(from, kLeastSamples);
  if (from > longest) return {0, 0};
  const double best = *std::max_element(found.begin() + static_cast<std::ptrdiff_t>(from),
                                        found.begin() + static_cast<std::ptrdiff_t>(longest) + 1);
  if (best < kAlike) return {0, 0};
  for (std::size_t lag = from; lag <= longest; ++lag) {
    const bool is_peak = found[lag] >= found[lag - 1] && found[lag] >= found[lag + 1];
    if (is_peak && found[lag] >= kNearlyBest * best) return {lag, found[lag]};
  }
  return {0, 0};
}

/// Where bytes begin most clearly in [from, to): many soon after, few just before.
std::size_t beginning_in(std::span<const double> sums, std::size_t from, std::size_t to,
                         std::size_t width) {
  std::size_t best = from;
  double most = -1;
  for (std::size_t i = std::max(from, width); i < to && i + width < sums.size(); ++i) {
    const double rise = (sums[i + width] - sums[i]) - (sums[i] - sums[i - width]);
    if (rise <= most) continue;
    most = rise;
    best = i;
  }
  return best;
}

}  // namespace

void Series::add(double time_s, const Devices& now) {
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  Row row{.time_s = time_s, .counts = std::vector<DeviceCounts>(names_.size())};
  for (const auto& [name, counts] : now) {
    const auto place = std::find(names_.begin(), names_.end(), name);
    const auto index = static_cast<std::size_t>(place - names_.begin());
    if (place == names_.end()) {
      names_.push_back(name);
      row.counts.emplace_back();
    }
    row.counts[index] = counts;
  }
  rows_.push_back(std::move(row));
  if (rows_.size() * std::max<std::size_t>(1, names_.size()) <= most_) return;
  for (std::size_t i = 0; 2 * i < rows_.size(); ++i) rows_[i] = std::move(rows_[2 * i]);
  rows_.resize((rows_.size() + 1) / 2);
  stride_ *= 2;
}

std::optional<Rhythm> rhythm_of(std::span<const double> bytes, double interval_s) {
  const std::size_t left_out = bytes.size() - std::min(bytes.size(), kMostCompared);
  bytes = bytes.subspan(left_out);
  if (bytes.size() < kLeastSteps * kLeastSamples) return {};
  const double mean =
      std::accumulate(bytes.begin(), bytes.end(), 0.0) / static_cast<double>(bytes.size());
  std::vector<double> values;
  std::vector<double> sums{0};
  for (const double each : bytes) {
    values.push_back(each - mean);
    sums.push_back(sums.back() + each);
  }
  const auto [period, likeness] = period_of(values);
  if (period == 0) return {};
  const std::size_t width = std::max<std::size_t>(1, period / 8);
  Rhythm rhythm{.starts_s = {}, .likeness = likeness};
  std::size_t at = beginning_in(sums, 0, period, width);
  while (at + width < bytes.size()) {
    rhythm.starts_s.push_back(static_cast<double>(left_out + at) * interval_s);
    const std::size_t to = at + period + 2 * period / 5;
    if (to + width >= bytes.size()) break;
    at = beginning_in(sums, at + 3 * period / 5, to, width);
  }
  if (rhythm.starts_s.size() <= kLeastSteps) return {};
  return rhythm;
}

std::optional<record::Iterations> steps_by_counters(const Series& series, double began_s) {
  const std::vector<Series::Row>& rows = series.rows();
  if (rows.size() < 2) return {};
  const auto moved = [](const DeviceCounts& counts) { return counts.sent + counts.received; };
  std::size_t device = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < rows.front().counts.size(); ++i) {
    const std::uint64_t all = moved(rows.back().counts[i]) - moved(rows.front().counts[i]);
    if (all <= most) continue;
    most = all;
    device = i;
  }
  if (most == 0) return {};
  std::vector<double> bytes;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    bytes.push_back(static_cast<double>(moved(rows[i].counts[device])) -
                    static_cast<double>(moved(rows[i - 1].counts[device])));
  }
  const double interval_s =
      (rows.back().time_s - rows.front().time_s) / static_cast<double>(bytes.size());
  const auto rhythm = rhythm_of(bytes, interval_s);
  if (!rhythm) return {};
  record::Iterations made{
      .source = "inferred",
      .confidence = rhythm->likeness,
      .evidence = fmt::format("bytes of {} over time repeat", series.names()[device])};
  for (std::size_t i = 0; i + 1 < rhythm->starts_s.size(); ++i) {
    made.starts_s.push_back(began_s + rows.front().time_s + rhythm->starts_s[i]);
    made.times_s.push_back(rhythm->starts_s[i + 1] - rhythm->starts_s[i]);
  }
  const stats::Estimate median = stats::median_estimate(made.times_s);
  made.count = made.times_s.size();
  made.median_s = median.value;
  made.ci_low_s = median.low;
  made.ci_high_s = median.high;
  made.p99_s = stats::quantile(made.times_s, 0.99);
  made.mean_s = std::accumulate(made.times_s.begin(), made.times_s.end(), 0.0) /
                static_cast<double>(made.times_s.size());
  return made;
}

}  // namespace tw::attach
