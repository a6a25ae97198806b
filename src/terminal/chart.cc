// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::terminal {
namespace {

constexpr std::size_t kLabel = 9;

/// From values to rows and columns, the highest y in row 0.
struct Frame {
  double x_from;
  double x_to;
  double y_low;  ///< ln
  double y_high;
  ChartSize size;

  std::size_t column(double x) const {
    const double share = (x - x_from) / (x_to - x_from);
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(size.width - 1)));
  }
  double x_of(std::size_t column) const {
    return x_from +
           (x_to - x_from) * static_cast<double>(column) / static_cast<double>(size.width - 1);
  }
  /// Nothing drawn outside the frame.
  long row(double y) const {
    const double share = (y_high - std::log(y)) / (y_high - y_low);
    return std::lround(share * static_cast<double>(size.height - 1));
  }
};

Frame frame_of(std::span<const ChartPoint> points, const ChartSize& size) {
  const auto [left, right] =
      std::minmax_element(points.begin(), points.end(),
                          [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  const auto [low, high] =
      std::minmax_element(points.begin(), points.end(),
                          [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; });
  Frame frame{.x_from = left->x,
              .x_to = right->x,
              .y_low = std::log(low->y),
              .y_high = std::log(high->y),
              .size = size};
  // Times that are all alike still need a scale.
  if (frame.y_high - frame.y_low < 1e-3) {
    frame.y_low -= 0.05;
    frame.y_high += 0.05;
  }
  return frame;
}

}  // namespace

std::vector<std::string> chart(std::span<const ChartPoint> points,
                               const std::function<double(double)>& curve, const ChartSize& size) {
  if (points.empty()) return {};
  for (const ChartPoint& point : points) {
    if (!(point.y > 0)) return {};
  }
  const Frame frame = frame_of(points, size);
  if (!(frame.x_to > frame.x_from)) return {};
  std::vector<std::string> rows(size.height, std::string(size.width, ' '));
  const auto put = [&](std::size_t column, double y, char mark) {
    if (!(y > 0)) return;
    const long row = frame.row(y);
    if (row < 0 || row >= static_cast<long>(size.height)) return;
    rows[static_cast<std::size_t>(row)][column] = mark;
  };
  for (std::size_t i = 0; i < size.width; ++i) put(i, curve(frame.x_of(i)), '.');
  for (const ChartPoint& point : points) put(frame.column(point.x), point.y, 'o');
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string label;
    if (i == 0) label = fmt::format("{:.3g}", std::exp(frame.y_high));
    if (i + 1 == rows.size()) label = fmt::format("{:.3g}", std::exp(frame.y_low));
    rows[i] = fmt::format("{:>{}} |{}", label, kLabel, rows[i]);
    rows[i].erase(rows[i].find_last_not_of(' ') + 1);
  }
  rows.push_back(fmt::format("{:>{}} +{}", "", kLabel, std::string(size.width, '-')));
  const std::string right = fmt::format("{:.4g}", frame.x_to);
  rows.push_back(fmt::format("{:>{}}  {:<{}}{}", "", kLabel, fmt::format("{:.4g}", frame.x_from),
                             size.width - right.size(), right));
  return rows;
}

}  // namespace tw::terminal
