// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/sweep_points.h"

#include "trainwire/result/table_reader.h"

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace tw::figures {
namespace {

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

}  // namespace

std::vector<SweepPoint> read_points(const timeline::Source& sweep) {
  std::vector<SweepPoint> points;
  auto settings = settings_by_folder(sweep);
  std::ifstream file = result::open_table(sweep.folder + "/points.csv");
  if (!file.is_open()) return points;
  result::TableReader table(file);
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

std::vector<report::SweptAxis> axes_of(const std::vector<SweepPoint>& points) {
  std::vector<std::vector<std::string>> settings;
  for (const SweepPoint& point : points) {
    settings.emplace_back();
    for (const timeline::Setting& each : point.settings) {
      settings.back().push_back(each.key + "=" + each.value);
    }
  }
  return report::swept_axes(settings);
}

}  // namespace tw::figures
