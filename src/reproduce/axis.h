// SPDX-License-Identifier: Apache-2.0
// An axis of a plot: from numbers to places, with marks at round numbers.

#pragma once

#include <span>
#include <vector>

namespace tw::reproduce {

struct AxisRange {
  double from;  ///< place of the lowest value
  double to;    ///< place of the highest
};

class Axis {
 public:
  /// Over all values, with some room. Powers of ten where `log` says so and all are positive.
  Axis(std::span<const double> values, AxisRange places, bool log);

  double place(double value) const;
  /// Round numbers on it, at most eight or so.
  std::vector<double> marks() const;

 private:
  AxisRange places_;
  bool log_;
  double low_;
  double high_;
};

/// Whether values span more than one linear axis shows.
bool wants_log(std::span<const double> values);

}  // namespace tw::reproduce
