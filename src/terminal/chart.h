// SPDX-License-Identifier: Apache-2.0
// Points and a curve as a small drawing of characters, y on a logarithmic scale.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tw::terminal {

struct ChartPoint {
  double x;
  double y;
};

struct ChartSize {
  std::size_t width = 60;  ///< of the drawing, without the labels
  std::size_t height = 8;
};

/// Lines of text: the drawing with labels of y at its top and bottom, an axis, labels of x at its
/// ends. `o` is a point, `.` the curve. Nothing when there are fewer than two different x, or a y
/// that is not positive.
std::vector<std::string> chart(std::span<const ChartPoint> points,
                               const std::function<double(double)>& curve,
                               const ChartSize& size = {});

}  // namespace tw::terminal
