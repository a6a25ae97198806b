// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sweep/table.h"

#include "trainwire/result/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <string_view>

namespace tw::sweep {
namespace {

using result::Cell;

/// A point as points.csv shows it.
struct PointRow {
  const record::Point& point;
  std::string settings;
  double scale = 0;
  record::Job job = {};  ///< the first
  record::Times step = {};
};

record::CrossTraffic cross_of(const PointRow& row) {
  return row.point.cross_traffic.value_or(record::CrossTraffic{});
}

constexpr std::array<result::Filled<PointRow>, 23> kColumns{{
    {"folder", [](const PointRow& r) -> Cell { return r.point.folder; }},
    {"settings", [](const PointRow& r) -> Cell { return r.settings; }},
    {"complete", [](const PointRow& r) -> Cell { return r.point.complete; }},
    {"checks_ok", [](const PointRow& r) -> Cell { return r.point.checks_ok; }},
    {"step_s", [](const PointRow& r) -> Cell { return r.step.median_s; }},
    {"step_low_s", [](const PointRow& r) -> Cell { return r.step.ci_low_s; }},
    {"step_high_s", [](const PointRow& r) -> Cell { return r.step.ci_high_s; }},
    {"exchange_s",
     [](const PointRow& r) -> Cell { return r.job.exchange ? r.job.exchange->median_s : 0.0; }},
    {"busbw_bps", [](const PointRow& r) -> Cell { return r.job.busbw_bps; }},
    {"busiest_share",
     [](const PointRow& r) -> Cell {
       return r.point.utilisation ? r.point.utilisation->share : 0.0;
     }},
    {"steps", [](const PointRow& r) -> Cell { return r.job.steps.value_or(0); }},
    {"step_mean_s", [](const PointRow& r) -> Cell { return r.step.mean_s.value_or(0); }},
    {"step_mean_low_s", [](const PointRow& r) -> Cell { return r.step.mean_low_s; }},
    {"step_mean_high_s", [](const PointRow& r) -> Cell { return r.step.mean_high_s; }},
    {"step_p99_s", [](const PointRow& r) -> Cell { return r.step.p99_s; }},
    {"gradient_bytes", [](const PointRow& r) -> Cell { return r.job.gradient_bytes; }},
    {"demand_bytes", [](const PointRow& r) -> Cell { return r.job.demand_bytes; }},
    {"step_sent_bytes", [](const PointRow& r) -> Cell { return r.job.step_sent_bytes; }},
    {"scale", [](const PointRow& r) -> Cell { return r.scale; }},
    {"capacity_bps", [](const PointRow& r) -> Cell { return cross_of(r).capacity_bps; }},
    {"traffic_requested_bps", [](const PointRow& r) -> Cell { return cross_of(r).requested_bps; }},
    {"traffic_achieved_bps", [](const PointRow& r) -> Cell { return cross_of(r).achieved_bps; }},
    {"problem",
     [](const PointRow& r) -> Cell {
       return r.point.problem ? Cell(*r.point.problem) : Cell(std::string_view());
     }},
}};

}  // namespace

void write_point(result::TableFile& table, const record::Point& point, double scale) {
  PointRow row{.point = point,
               .settings = fmt::format("{}", fmt::join(point.settings, " ")),
               .scale = scale};
  if (!point.jobs.empty()) row.job = point.jobs.front();
  row.step = row.job.step.value_or(record::Times{});
  result::write_row(table, kColumns, row);
}

}  // namespace tw::sweep
