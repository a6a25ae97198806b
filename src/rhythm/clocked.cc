// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/clocked.h"

#include "trainwire/stats/bootstrap.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::size_t kFewestDistances = 8;
/// Half of what a timer shows; of twenty independent distances, one series in eight is below.
constexpr double kOpposed = -0.25;
constexpr double kEven = 0.01;  ///< typical deviation, of the distance: computing varies by more
constexpr double kStampNs = 2'000;  ///< smaller deviations are those of the stamps

/// From the start of one step to the next. The first one's may include start-up.
std::vector<double> distances_of(const Steps& exchanges) {
  std::vector<double> result;
  for (std::size_t i = 2; i < exchanges.steps.size(); ++i) {
    result.push_back(
        static_cast<double>(exchanges.steps[i].start_ns - exchanges.steps[i - 1].start_ns));
  }
  return result;
}

bool is_even(const std::vector<double>& values) {
  const double middle = stats::median(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  const double typical = stats::median(std::move(deviations));
  return typical > kStampNs && typical < kEven * middle;
}

}  // namespace

bool is_clocked(const Steps& exchanges) {
  const std::vector<double> distances = distances_of(exchanges);
  return distances.size() >= kFewestDistances && is_even(distances) &&
         stats::lag_one_correlation(distances) <= kOpposed;
}

}  // namespace tw::rhythm
