// SPDX-License-Identifier: Apache-2.0
// What a job leaves unused beside cross traffic (Salamy 2022, tables 3.3, 3.5, 3.7 and 3.8): the
// bandwidth that its step time would need ideally, against what the cross traffic left of the link.
//
// Limits: the ideal counts payload, so headers (about 5 % at an MTU of 1,500) count as unused.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/stats/estimate.h"

#include <optional>
#include <span>
#include <vector>

namespace tw::stats {

/// A step's time under a load of cross traffic.
struct LoadedStep {
  BitRate load;
  double step_s;
};

struct SparePoint {
  BitRate load;
  BitRate ideal;      ///< demand / step time
  BitRate available;  ///< capacity - load
  BitRate spare;      ///< available - ideal; below 0 when the job took more than was left
  double share;       ///< spare / available
};

struct SpareOptions {
  Bytes demand;  ///< what the busiest rank sends in a step
  BitRate capacity;
  double confidence = 0.95;
};

/// One a step. REQUIRES: times positive, loads below the capacity.
std::vector<SparePoint> spare_points(std::span<const LoadedStep> steps,
                                     const SpareOptions& options);

/// Mean spare rate in bit/s over the points whose load lies past `from`, where the link is
/// saturated; its interval is Student's, or its value twice for a single point. Nothing without
/// points.
std::optional<Estimate> mean_spare_bps(std::span<const SparePoint> points, BitRate from,
                                       double confidence = 0.95);

}  // namespace tw::stats
