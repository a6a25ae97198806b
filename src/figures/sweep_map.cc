// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"
#include "trainwire/figures/sweep_axis.h"
#include "trainwire/figures/sweep_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tw::figures {
namespace {

constexpr std::size_t kLeastValues = 3;  ///< of each setting: of fewer, series tell as much

/// The values of a setting from small to large, with their places.
struct Steps {
  SweepAxis axis;
  std::map<double, std::string> texts = {};

  std::size_t place_of(std::size_t point) const {
    return static_cast<std::size_t>(std::distance(texts.begin(), texts.find(axis.x(point))));
  }
  std::string tics() const {
    std::vector<std::string> list;
    for (const auto& [value, text] : texts) {
      list.push_back(fmt::format("{} {}", gnuplot_tic(text), list.size()));
    }
    return fmt::format("({})", fmt::join(list, ", "));
  }
};

/// The settings of several numbers.
std::vector<Steps> steps_of(const std::vector<report::SweptAxis>& axes, std::size_t points) {
  std::vector<Steps> all;
  for (const report::SweptAxis& axis : axes) {
    if (axis.quantity == report::Quantity::Word) continue;
    Steps steps{.axis = over_numbers(axis)};
    for (std::size_t i = 0; i < points; ++i) {
      steps.texts[steps.axis.x(i)] =
          fmt::format("{:.6g}", axis.values[i].number.value_or(0) * steps.axis.per_base);
    }
    if (steps.texts.size() >= kLeastValues) all.push_back(std::move(steps));
  }
  return all;
}

struct Cell {
  double sum_s = 0;
  std::size_t count = 0;
};

}  // namespace

std::optional<Figure> sweep_map_figure(const timeline::Source& sweep) {
  const std::vector<SweepPoint> points = read_points(sweep);
  const std::vector<report::SweptAxis> axes = axes_of(points);
  const std::vector<Steps> steps = steps_of(axes, points.size());
  if (steps.size() != 2 || axes.size() != 2) return {};
  const Steps &across = steps[0], &down = steps[1];
  std::map<std::pair<std::size_t, std::size_t>, Cell> cells;
  double largest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Cell& cell = cells[{down.place_of(i), across.place_of(i)}];
    cell.sum_s += points[i].mean_s;
    ++cell.count;
    largest = std::max(largest, points[i].mean_s);
  }
  const ShownUnit unit = time_unit(largest);
  std::string csv = "x_number,y_number,x,y,step_mean_s\n";
  for (const auto& [place, cell] : cells) {
    fmt::format_to(
        std::back_inserter(csv), "{},{},{},{},{}\n", place.second, place.first,
        std::next(across.texts.begin(), static_cast<std::ptrdiff_t>(place.second))->second,
        std::next(down.texts.begin(), static_cast<std::ptrdiff_t>(place.first))->second,
        cell.sum_s / static_cast<double>(cell.count));
  }
  Sheet sheet{.name = "step_time_map",
              .sentence = "Mean step time over two settings; repeats are averaged."};
  sheet.settings = {scale_line(unit),
                    "set palette defined (0 '#440154', 1 '#414487', 2 '#2a788e', 3 '#22a884', "
                    "4 '#7ad151', 5 '#fde725')",
                    "unset grid",
                    fmt::format("set xlabel {}", gnuplot_text(across.axis.label)),
                    fmt::format("set ylabel {}", gnuplot_text(down.axis.label)),
                    fmt::format("set cblabel 'mean step time ({})' offset 1,0", unit.name),
                    "set cbrange [0:*]",
                    fmt::format("set xtics {}", across.tics()),
                    fmt::format("set ytics {}", down.tics()),
                    fmt::format("set xrange [-0.5:{}.5]", across.texts.size() - 1),
                    fmt::format("set yrange [-0.5:{}.5]", down.texts.size() - 1)};
  sheet.plots = {"'step_time_map.csv' skip 1 using 1:2:($5*scale) with image pixels notitle"};
  return Figure{.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

}  // namespace tw::figures
