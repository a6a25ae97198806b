// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"
#include "trainwire/figures/sweep_axis.h"
#include "trainwire/figures/sweep_curve.h"
#include "trainwire/figures/sweep_points.h"
#include "trainwire/report/swept.h"
#include "trainwire/result/json_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace tw::figures {
namespace {

using nlohmann::ordered_json;

/// Full and open marks by turns, so that points in the same place are seen; 12 is the congestion
/// point's.
constexpr std::array kMarks{7, 4, 9, 10, 5, 6, 11, 8};

using Point = SweepPoint;

struct Group {
  std::string name;
  std::vector<Point> points;
  std::optional<Curve> curve = {};
  std::vector<FittedPoint> fitted = {};  ///< in base units, where there is no curve
};

/// Values of what differs between the groups; keys are left out where the values tell them.
std::string name_of(std::size_t point, const SweepAxis& axis,
                    const std::vector<report::SweptAxis>& axes) {
  std::vector<std::string> parts;
  for (const report::SweptAxis& each : axes) {
    if (&each == axis.swept || (axis.is_load && is_load_key(each.key))) continue;
    const std::string& text = each.values[point].text;
    const bool is_word = each.quantity == report::Quantity::Word;
    parts.push_back(is_word ? text : fmt::format("{} {}", each.label, text));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// As `fit` names its series: "key=value ...", without its x; texts have their quotes.
bool is_named(const Point& point, const SweepAxis& axis, const std::string& series) {
  const std::string words = fmt::format(" {} ", series);
  for (const timeline::Setting& setting : point.settings) {
    if (setting.key == axis.swept->key || setting.key == "run.seed") continue;
    if (axis.is_load && is_load_key(setting.key)) continue;
    if (words.find(fmt::format(" {}={} ", setting.key, setting.value)) == words.npos &&
        words.find(fmt::format(" {}=\"{}\" ", setting.key, setting.value)) == words.npos) {
      return false;
    }
  }
  return true;
}

std::vector<Group> grouped(std::vector<Point> points, const SweepAxis& axis,
                           const std::vector<report::SweptAxis>& axes) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point& point = points[i];
    point.x = axis.is_load ? *point.load_gbit_s : axis.x(i);
    const std::string name = axis.swept == nullptr ? "" : name_of(i, axis, axes);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& each) { return each.name == name; });
    if (group == groups.end()) group = groups.insert(group, {.name = name, .points = {}});
    group->points.push_back(std::move(point));
  }
  for (Group& group : groups) {
    std::stable_sort(group.points.begin(), group.points.end(),
                     [](const Point& a, const Point& b) { return a.x < b.x; });
  }
  return groups;
}

/// Those of fit.json, when it is over this axis.
void add_curves(const std::string& folder, const SweepAxis& axis, std::vector<Group>& groups) {
  const ordered_json fit = result::read_json(folder + "/fit.json");
  if (axis.swept == nullptr || member(fit, "y") != "step_mean_s") return;
  if (member(fit, "x") != (axis.is_load ? "traffic_achieved_bps" : axis.swept->key)) return;
  const ordered_json list = member(fit, "series");
  const ordered_json all = list.is_array() && !list.empty() ? list : ordered_json::array({fit});
  for (const ordered_json& one : all) {
    const ordered_json name = member(one, "name");
    for (Group& group : groups) {
      const bool same = all.size() == 1 || (name.is_string() && is_named(group.points.front(), axis,
                                                                         name.get<std::string>()));
      if (!same || group.curve || !group.fitted.empty()) continue;
      if (axis.is_load && member(fit, "model") == "saturation") group.curve = curve_of(one);
      if (!axis.is_load) group.fitted = fitted_of(one);
    }
  }
}

std::string csv_of(const std::vector<Group>& groups) {
  std::string csv = "series,name,x,step_mean_s,step_mean_low_s,step_mean_high_s,step_p99_s\n";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const Point& point : groups[i].points) {
      fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{}\n", i, csv_text(groups[i].name),
                     point.x, point.mean_s, point.low_s, point.high_s, point.p99_s);
    }
  }
  return csv;
}

/// A little more than the points need.
std::string x_range(const std::vector<Group>& groups, bool is_log) {
  double least = INFINITY, largest = -INFINITY;
  for (const Group& group : groups) {
    least = std::min(least, group.points.front().x);
    largest = std::max(largest, group.points.back().x);
  }
  if (is_log) return fmt::format("set xrange [{:.4g}:{:.4g}]", 0.8 * least, 1.25 * largest);
  const double margin = largest > least ? 0.03 * (largest - least) : 0.5;
  return fmt::format("set xrange [{:.4g}:{:.4g}]", least - margin, largest + margin);
}

/// From zero, or logarithmic where the times differ widely.
std::vector<std::string> y_settings(double least_s, double largest_s, const ShownUnit& unit) {
  if (largest_s <= 6 * least_s || least_s < 1e-12) return {"set yrange [0:*]"};
  const double low = least_s * unit.scale * 0.8, high = largest_s * unit.scale * 1.25;
  std::vector<std::string> tics;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade < high; decade *= 10) {
    for (const double digit : {1, 2, 5}) tics.push_back(fmt::format("{:.3g}", digit * decade));
  }
  return {"set logscale y", fmt::format("set yrange [{:.4g}:{:.4g}]", low, high),
          fmt::format("set ytics ({})", fmt::join(tics, ", "))};
}

}  // namespace

std::optional<Figure> sweep_figure(const timeline::Source& sweep) {
  std::vector<Point> points = read_points(sweep);
  if (points.empty()) return {};
  const std::vector<report::SweptAxis> axes = axes_of(points);
  const SweepAxis axis = axis_over(
      axes, std::all_of(points.begin(), points.end(),
                        [](const Point& point) { return point.load_gbit_s.has_value(); }));
  double least = INFINITY, largest = 0;
  for (const Point& point : points) {
    least = std::min(least, point.mean_s);
    largest = std::max(largest, point.p99_s);
  }
  const std::vector<std::string> tics = axis_lines(axis, points.size());
  std::vector<Group> groups = grouped(std::move(points), axis, axes);
  add_curves(sweep.folder, axis, groups);
  const ShownUnit unit = time_unit(largest);
  Sheet sheet{.name = axis.is_load ? "step_time_by_load" : "step_time_by_setting",
              .sentence = "Mean step time with bars up to the 99th percentile.",
              .height_cm = 5.8};
  sheet.settings = {scale_line(unit), fmt::format("set xlabel {}", gnuplot_text(axis.label)),
                    fmt::format("set ylabel 'step time ({}): mean, bar to p99'", unit.name),
                    x_range(groups, axis.is_log)};
  for (const std::string& line : tics) sheet.settings.push_back(line);
  for (std::string& line : y_settings(least, largest, unit)) sheet.settings.push_back(line);
  bool has_congestion = false, has_curve = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string name = groups[i].name.empty() ? "measured" : groups[i].name;
    sheet.titles.push_back(name);
    const std::string data =
        fmt::format("'{}.csv' skip 1 using ($1=={} ? $3 : NaN):($4*scale)", sheet.name, i);
    sheet.plots.push_back(fmt::format(
        "{} with points pointtype {} pointsize 0.5 linewidth 0.8 linecolor rgb '{}' title {}", data,
        kMarks[i % kMarks.size()], colour(i), gnuplot_text(name)));
    // Not error bars: these blank out the points behind open ones.
    sheet.plots.push_back(fmt::format(
        "{}:(0):(($7-$4)*scale) with vectors nohead linewidth 0.8 linecolor rgb '{}' notitle", data,
        colour(i)));
    if (!groups[i].fitted.empty()) {
      has_curve = true;
      std::vector<FittedPoint> fitted = groups[i].fitted;
      for (FittedPoint& point : fitted) point.x = axis.place_of(point.x);
      add_fitted(sheet, fitted, i);
    }
    if (!groups[i].curve) continue;
    has_curve = true;
    has_congestion = has_congestion || groups[i].curve->congestion;
    add_curve(sheet, *groups[i].curve, i);
  }
  const auto explain = [&](std::string title, std::string_view style) {
    sheet.plots.push_back(
        fmt::format("NaN with {} linecolor rgb '#444444' title '{}'", style, title));
    sheet.titles.push_back(std::move(title));
  };
  if (has_curve) explain("fitted", "lines dashtype (6,3)");
  if (has_congestion) explain("congestion point, 95 %", "points pointtype 12 pointsize 0.8");
  std::string csv = csv_of(groups);
  return Figure{.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

}  // namespace tw::figures
