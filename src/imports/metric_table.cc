// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/metric_table.h"

#include "trainwire/imports/log_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace tw::imports {
namespace {

constexpr std::size_t kLongestHeader = 64 << 10;

/// How a metric's name ends, behind the run's name and its groups, and how many seconds its unit has.
constexpr std::array<std::pair<std::string_view, double>, 10> kMetrics{{
    {"timing_s/step", 1},
    {"time_per_step", 1},
    {"step_time", 1},
    {"step_time_s", 1},
    {"step_time_ms", 1e-3},
    {"iter_time", 1},
    {"iteration-time", 1},
    {"iteration_time", 1},
    {"elapsed_time_per_iteration_ms", 1e-3},  // nanotron
    {"train_step_timing in s", 1},
}};

std::optional<double> unit_of(std::string_view name) {
  for (const auto& [metric, unit_s] : kMetrics) {
    if (!name.ends_with(metric)) continue;
    const std::string_view before = name.substr(0, name.size() - metric.size());
    if (before.empty() || before.ends_with(' ') || before.ends_with('/')) return unit_s;
  }
  return {};
}

std::optional<double> time_in(std::string_view cell) {
  double time = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), time);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(time)) return {};
  return time;
}

}  // namespace

bool MetricTable::header(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  // Most lines are of other logs, and long.
  const bool has_metric = std::any_of(kMetrics.begin(), kMetrics.end(),
                                      [&](const auto& metric) { return has(metric.first); });
  if (text.size() > kLongestHeader || !has(",") || !has_metric) return false;
  std::vector<std::string_view> cells;
  if (!split_csv(text, cells)) return false;
  std::optional<std::size_t> step;
  std::optional<std::pair<std::size_t, double>> time;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = lower_case(cells[i]);
    const bool is_step = cell == "step" || cell == "_step" || cell == "global_step" ||
                         cell == "trainer/global_step" || cell == "iteration";
    if (is_step && !step) step = i;
    if (const auto unit_s = unit_of(cell); unit_s && !time) time = std::pair(i, *unit_s);
  }
  if (!step || !time) return false;
  columns_ =
      Columns{.step = *step, .time = time->first, .unit_s = time->second, .count = cells.size()};
  return true;
}

bool MetricTable::line(std::string_view text) {
  step_.reset();
  if (header(text)) return true;
  if (!columns_) return false;
  std::vector<std::string_view> cells;
  if (!split_csv(text, cells) || cells.size() != columns_->count) return false;
  const auto number = parse_whole(cells[columns_->step]);
  if (!number || *number < 0) return false;
  if (const auto time = time_in(cells[columns_->time]))
    step_ = std::pair(*number, *time * columns_->unit_s);
  return true;
}

}  // namespace tw::imports
