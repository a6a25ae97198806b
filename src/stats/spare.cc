// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/spare.h"

#include "trainwire/base/error.h"
#include "trainwire/stats/weighted_fit.h"

#include <cmath>

namespace tw::stats {

std::vector<SparePoint> spare_points(std::span<const LoadedStep> steps,
                                     const SpareOptions& options) {
  std::vector<SparePoint> points;
  for (const LoadedStep& step : steps) {
    check(step.step_s > 0 && step.load < options.capacity, "a step takes time, a link has room");
    const double ideal = 8 * static_cast<double>(options.demand.count()) / step.step_s;
    const double available = options.capacity.bits_per_second() - step.load.bits_per_second();
    points.push_back({.load = step.load,
                      .ideal = BitRate(ideal),
                      .available = BitRate(available),
                      .spare = BitRate(available - ideal),
                      .share = (available - ideal) / available});
  }
  return points;
}

std::optional<Estimate> mean_spare_bps(std::span<const SparePoint> points, BitRate from,
                                       double confidence) {
  std::vector<double> values;
  double sum = 0;
  for (const SparePoint& point : points) {
    if (point.load < from) continue;
    values.push_back(point.spare.bits_per_second());
    sum += values.back();
  }
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half =
      values.size() < 2 ? 0 : t_factor(confidence, n - 1) * std::sqrt(squares / (n - 1) / n);
  return Estimate{.value = mean,
                  .low = mean - half,
                  .high = mean + half,
                  .confidence = confidence,
                  .n = values.size()};
}

}  // namespace tw::stats
