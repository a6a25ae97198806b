// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"
#include "trainwire/figures/sweep_curve.h"
#include "trainwire/result/json_text.h"
#include "trainwire/result/table_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tw::figures {
namespace {

using nlohmann::ordered_json;
using result::TableReader;

/// Full and open marks by turns, so that points in the same place are seen; 12 is the congestion
/// point's.
constexpr std::array kMarks{7, 4, 9, 10, 5, 6, 11, 8};

struct Point {
  std::vector<timeline::Setting> settings;
  double mean_s;
  double low_s;
  double high_s;
  double p99_s;
  std::optional<double> load_gbit_s;
  double x = 0;
};

struct Group {
  std::string name;
  std::vector<Point> points;
  std::optional<Curve> curve = {};
};

bool is_load(std::string_view key) { return key.starts_with("traffic.") && key.ends_with(".load"); }

/// The settings of each point by its folder: run.json has them as a list, and a text may hold
/// blanks.
std::map<std::string, std::vector<timeline::Setting>> settings_by_folder(
    const timeline::Source& sweep) {
  std::map<std::string, std::vector<timeline::Setting>> all;
  const auto& points = sweep.file.summary.points;
  for (const record::Point& point : points ? *points : std::vector<record::Point>()) {
    for (const std::string& each : point.settings) {
      all[point.folder].push_back(timeline::parse_setting(each));
    }
  }
  return all;
}

std::vector<Point> read_points(const timeline::Source& sweep) {
  std::vector<Point> points;
  auto settings = settings_by_folder(sweep);
  std::ifstream file = result::open_table(sweep.folder + "/points.csv");
  if (!file.is_open()) return points;
  TableReader table(file);
  const auto folder = table.column("folder"), scale = table.column("scale");
  const auto mean = table.column("step_mean_s"), p99 = table.column("step_p99_s");
  const auto low = table.column("step_mean_low_s"), high = table.column("step_mean_high_s");
  const auto load = table.column("traffic_achieved_bps"), complete = table.column("complete");
  while (table.next()) {
    if (table.integer(complete) == 0) continue;  // steps until something failed are no result
    const auto time = table.number(mean);
    if (!time || !(*time > 0) || !std::isfinite(*time)) continue;
    const auto rate = table.number(load);
    points.push_back({.settings = settings[std::string(table.text(folder))],
                      .mean_s = *time,
                      .low_s = table.number(low).value_or(*time),
                      .high_s = table.number(high).value_or(*time),
                      .p99_s = table.number(p99).value_or(*time),
                      .load_gbit_s = {}});
    if (rate) points.back().load_gbit_s = *rate * table.number(scale).value_or(1) * 1e-9;
  }
  return points;
}

std::optional<double> as_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return {};
  return value;
}

/// What the horizontal axis shows.
struct Axis {
  std::string key;  ///< of the setting that it replaces; "" when points are numbered
  std::string label;
  bool is_load = false;
};

/// What each key is set to.
using Values = std::map<std::string, std::set<std::string>>;

Values values_of(const std::vector<Point>& points) {
  Values values;
  for (const Point& point : points) {
    for (const timeline::Setting& setting : point.settings)
      values[setting.key].insert(setting.value);
  }
  return values;
}

/// The last setting that is a number everywhere and differs, traffic's load before all others.
Axis axis_of(const std::vector<Point>& points) {
  const Values values = values_of(points);
  std::string chosen;
  const bool loads_known = std::all_of(points.begin(), points.end(),
                                       [](const Point& point) { return point.load_gbit_s; });
  for (const timeline::Setting& setting : points.front().settings) {
    const std::set<std::string>& set = values.at(setting.key);
    if (set.size() < 2 || !std::all_of(set.begin(), set.end(), as_number)) continue;
    if (is_load(setting.key) && loads_known) {
      return {.key = setting.key, .label = "cross traffic (Gbit/s)", .is_load = true};
    }
    chosen = setting.key;
  }
  if (chosen.empty()) return {.key = "", .label = "point of the sweep"};
  return {.key = chosen, .label = chosen};
}

/// Values of what differs between the groups; keys are left out, for values mostly tell them.
std::string name_of(const Point& point, const Axis& axis, const Values& values) {
  std::vector<std::string> parts;
  for (const timeline::Setting& setting : point.settings) {
    if (setting.key == axis.key || setting.key == "run.seed") continue;
    if (values.at(setting.key).size() > 1) parts.push_back(setting.value);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// As `fit` names its series: "key=value ...", without the load; texts have their quotes.
bool is_named(const Point& point, const std::string& series) {
  const std::string words = fmt::format(" {} ", series);
  for (const timeline::Setting& setting : point.settings) {
    if (is_load(setting.key) || setting.key == "run.seed") continue;
    if (words.find(fmt::format(" {}={} ", setting.key, setting.value)) == words.npos &&
        words.find(fmt::format(" {}=\"{}\" ", setting.key, setting.value)) == words.npos) {
      return false;
    }
  }
  return true;
}

std::vector<Group> grouped(std::vector<Point> points, const Axis& axis) {
  const Values values = values_of(points);
  std::vector<Group> groups;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point& point = points[i];
    point.x = static_cast<double>(i);
    for (const timeline::Setting& setting : point.settings) {
      if (setting.key == axis.key) point.x = as_number(setting.value).value_or(point.x);
    }
    if (axis.is_load) point.x = *point.load_gbit_s;
    const std::string name = axis.key.empty() ? "" : name_of(point, axis, values);
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

void add_curves(const std::string& folder, std::vector<Group>& groups) {
  const ordered_json fit = result::read_json(folder + "/fit.json");
  if (member(fit, "model") != "saturation" || member(fit, "x") != "traffic_achieved_bps" ||
      member(fit, "y") != "step_mean_s") {
    return;
  }
  const ordered_json list = member(fit, "series");
  const ordered_json all = list.is_array() && !list.empty() ? list : ordered_json::array({fit});
  for (const ordered_json& one : all) {
    const ordered_json name = member(one, "name");
    for (Group& group : groups) {
      const bool same = all.size() == 1 || (name.is_string() && is_named(group.points.front(),
                                                                         name.get<std::string>()));
      if (!group.curve && same) group.curve = curve_of(one);
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

/// Labels of numbered points: what they set. Nothing when they are too many.
std::string point_tics(const std::vector<Point>& points) {
  const Values values = values_of(points);
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < points.size(); ++i) {
    tics.push_back(fmt::format("{} {}", gnuplot_tic(name_of(points[i], {}, values)), i));
  }
  if (tics.size() > 24) return "set xtics auto";
  return fmt::format("set xtics ({}) rotate by -40", fmt::join(tics, ", "));
}

/// A little more than the points need.
std::string x_range(const std::vector<Group>& groups) {
  double least = INFINITY, largest = -INFINITY;
  for (const Group& group : groups) {
    least = std::min(least, group.points.front().x);
    largest = std::max(largest, group.points.back().x);
  }
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
  const Axis axis = axis_of(points);
  double least = INFINITY, largest = 0;
  for (const Point& point : points) {
    least = std::min(least, point.mean_s);
    largest = std::max(largest, point.p99_s);
  }
  const std::string tics = axis.key.empty() ? point_tics(points) : "set xtics auto";
  std::vector<Group> groups = grouped(std::move(points), axis);
  if (axis.is_load) add_curves(sweep.folder, groups);
  const ShownUnit unit = time_unit(largest);
  Sheet sheet{.name = axis.is_load ? "step_time_by_load" : "step_time_by_setting",
              .sentence = "Mean step time with bars up to the 99th percentile.",
              .height_cm = 5.8};
  sheet.settings = {scale_line(unit), fmt::format("set xlabel {}", gnuplot_text(axis.label)),
                    fmt::format("set ylabel 'step time ({}): mean, bar to p99'", unit.name), tics,
                    x_range(groups)};
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
