// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/sweep_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tw::figures {
namespace {

using nlohmann::ordered_json;

std::optional<double> number(const ordered_json& from, const char* key) {
  const ordered_json value = member(from, key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value.get<double>();
}

/// In Gbit/s.
double unit_of(const std::string& name) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"kbit/s", 1e-6}, {"Mbit/s", 1e-3}, {"Gbit/s", 1}, {"Tbit/s", 1e3}};
  for (const auto& [unit, gbit_s] : kUnits) {
    if (unit == name) return gbit_s;
  }
  return 1e-9;
}

}  // namespace

ordered_json member(const ordered_json& from, std::string_view key) {
  if (!from.is_object()) return {};
  const auto found = from.find(key);
  return found == from.end() ? ordered_json() : *found;
}

std::optional<Curve> curve_of(const ordered_json& fit) {
  std::map<std::string, double> parameters;
  const ordered_json list = member(fit, "parameters");
  for (const ordered_json& each : list.is_array() ? list : ordered_json::array()) {
    const ordered_json name = member(each, "name");
    if (const auto value = number(each, "value"); value && name.is_string()) {
      parameters[name.get<std::string>()] = *value;
    }
  }
  const auto capacity = number(fit, "capacity");
  const auto from = number(fit, "valid_from"), to = number(fit, "valid_to");
  if (!capacity || !from || !to) return {};
  for (const char* name : {"A", "B", "n"}) {
    if (!parameters.contains(name)) return {};
  }
  const ordered_json unit = member(fit, "equation_x_unit");
  Curve curve{.a = parameters["A"],
              .b = parameters["B"],
              .n = parameters["n"],
              .capacity_gbit_s = *capacity * 1e-9,
              .unit_gbit_s = unit_of(unit.is_string() ? unit.get<std::string>() : ""),
              .from_gbit_s = *from * 1e-9,
              .to_gbit_s = *to * 1e-9,
              .congestion = {}};
  const ordered_json congestion = member(fit, "congestion_point");
  const auto x = number(congestion, "x"), y = number(congestion, "y");
  const auto low = number(congestion, "ci_low"), high = number(congestion, "ci_high");
  if (x && y) {
    curve.congestion = {
        .x = *x * 1e-9, .low = low.value_or(*x) * 1e-9, .high = high.value_or(*x) * 1e-9, .y = *y};
  }
  return curve;
}

std::vector<FittedPoint> fitted_of(const ordered_json& fit) {
  std::vector<FittedPoint> points;
  const ordered_json list = member(fit, "points");
  for (const ordered_json& each : list.is_array() ? list : ordered_json::array()) {
    const auto x = number(each, "x"), y = number(each, "fitted");
    if (x && y) points.push_back({*x, *y});
  }
  std::sort(points.begin(), points.end(),
            [](const FittedPoint& a, const FittedPoint& b) { return a.x < b.x; });
  return points;
}

void add_fitted(Sheet& sheet, const std::vector<FittedPoint>& points, std::size_t series) {
  std::string block = fmt::format("$fitted{} << EOD\n", series);
  for (const FittedPoint& point : points) block += fmt::format("{:.6g},{:.6g}\n", point.x, point.y);
  sheet.settings.push_back(block + "EOD");
  sheet.plots.push_back(
      fmt::format("$fitted{} using 1:($2*scale) with lines linewidth 1 dashtype (6,3) linecolor "
                  "rgb '{}' notitle",
                  series, colour(series)));
}

void add_curve(Sheet& sheet, const Curve& curve, std::size_t series) {
  const std::string room =
      curve.unit_gbit_s == 1
          ? fmt::format("{:.9g} - x", curve.capacity_gbit_s)
          : fmt::format("({:.9g} - x)/{:.9g}", curve.capacity_gbit_s, curve.unit_gbit_s);
  sheet.settings.push_back(fmt::format("fit{}(x) = {:.9g}*exp({:.9g}/({})**{:.9g})", series,
                                       curve.a, curve.b, room, curve.n));
  sheet.plots.push_back(
      fmt::format("[x={:.6g}:{:.6g}] fit{}(x)*scale with lines linewidth 1 dashtype "
                  "(6,3) linecolor rgb '{}' notitle",
                  curve.from_gbit_s, curve.to_gbit_s, series, colour(series)));
  if (!curve.congestion) return;
  sheet.settings.push_back(fmt::format("$congestion{} << EOD\n{:.6g},{:.6g},{:.6g},{:.6g}\nEOD",
                                       series, curve.congestion->x, curve.congestion->y,
                                       curve.congestion->low, curve.congestion->high));
  sheet.plots.push_back(
      fmt::format("$congestion{} using 1:($2*scale):3:4 with xerrorbars pointtype 12 pointsize 0.8 "
                  "linewidth 0.8 linecolor rgb '{}' notitle",
                  series, colour(series)));
}

}  // namespace tw::figures
