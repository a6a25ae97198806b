// SPDX-License-Identifier: Apache-2.0
// What the step time of a sweep is drawn over: the load of cross traffic where that was swept, or
// else a setting, in its unit, logarithmic where its values span decades; words side by side.

#pragma once

#include "trainwire/report/swept.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::figures {

/// Where values of a setting lie; REQUIRES: the axis of report outlives it.
struct SweepAxis {
  const report::SweptAxis* swept = nullptr;  ///< nothing where points are numbered
  std::string label = {};
  bool is_load = false;  ///< x is the load that was reached, in Gbit/s
  bool is_log = false;
  double per_base = 1;  ///< units of the label in a base unit
  double zero_at = 0;   ///< of a logarithmic axis, where 0 stands

  /// In the label's unit. REQUIRES: a setting of numbers.
  double place_of(double value) const;
  /// Of a point by its number.
  double x(std::size_t point) const;
};

bool is_load_key(std::string_view key);

/// Over the values of a setting. REQUIRES: numbers.
SweepAxis over_numbers(const report::SweptAxis& swept);

/// The load before all others when `loads_known`, then the setting of numbers with the most values,
/// then that of words.
SweepAxis axis_over(const std::vector<report::SweptAxis>& axes, bool loads_known);

/// gnuplot's lines for the axis: tics at what was set where these are few, and the scale.
std::vector<std::string> axis_lines(const SweepAxis& axis, std::size_t points);

}  // namespace tw::figures
