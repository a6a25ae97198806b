// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sweep/points.h"

#include "trainwire/stats/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tw::sweep {
namespace {

std::vector<Planned> combinations(const std::vector<spec::SweepAxis>& axes) {
  std::vector<Planned> points{{}};
  for (std::size_t begin = 0, end = 0; begin < axes.size(); begin = end) {
    while (end < axes.size() && axes[end].group == axes[begin].group) ++end;
    std::vector<Planned> longer;
    for (const Planned& point : points) {
      for (std::size_t value = 0; value < axes[begin].values.size(); ++value) {
        longer.push_back(point);
        for (std::size_t axis = begin; axis < end; ++axis) {
          longer.back().settings.push_back(axes[axis].key + "=" + axes[axis].values[value]);
        }
      }
    }
    points = std::move(longer);
  }
  for (std::size_t i = 0; i < points.size(); ++i) points[i].combination = i;
  return points;
}

}  // namespace

std::vector<Planned> points_of(const spec::Experiment& experiment) {
  const std::vector<Planned> once = combinations(experiment.sweep);
  const int repeats = *experiment.run.repeats;
  std::vector<Planned> all;
  for (int i = 0; i < repeats; ++i) {
    for (const Planned& point : once) {
      Planned& added = all.emplace_back(point);
      added.repetition = i;
      if (repeats == 1) continue;
      added.settings.push_back(
          fmt::format("run.seed={}", *experiment.run.seed + static_cast<std::uint64_t>(i)));
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].folder = fmt::format("point-{:03}", i);
  return all;
}

bool is_narrow(std::span<const double> steps_s, double share) {
  if (steps_s.size() < 3) return false;
  const stats::Estimate mean = stats::mean_estimate(steps_s);
  return std::max(mean.high - mean.value, mean.value - mean.low) <= share * mean.value;
}

bool Repetitions::needs(const Planned& point) const {
  const auto steps = steps_s_.find(point.combination);
  return !until_ || steps == steps_s_.end() || !is_narrow(steps->second, *until_);
}

void Repetitions::take(const Planned& point, const record::Point& found) {
  if (!found.checks_ok || found.jobs.empty() || !found.jobs.front().step) return;
  steps_s_[point.combination].push_back(found.jobs.front().step->median_s);
}

}  // namespace tw::sweep
