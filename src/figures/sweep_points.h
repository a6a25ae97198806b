// SPDX-License-Identifier: Apache-2.0
// The points of a sweep that came to a result.

#pragma once

#include "trainwire/report/swept.h"
#include "trainwire/timeline/source.h"

#include <optional>
#include <vector>

namespace tw::figures {

struct SweepPoint {
  std::vector<timeline::Setting> settings;
  double mean_s;
  double low_s;
  double high_s;
  double p99_s;
  std::optional<double> load_gbit_s = {};  ///< as on the cluster
  double x = 0;                            ///< where it is drawn
};

std::vector<SweepPoint> read_points(const timeline::Source& sweep);

/// What differs between them, in their order.
std::vector<report::SweptAxis> axes_of(const std::vector<SweepPoint>& points);

}  // namespace tw::figures
