// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/sweep.h"

#include "trainwire/base/error.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/result/columns.h"
#include "trainwire/spec/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

namespace tw::lab {
namespace {

using nlohmann::ordered_json;
using result::Cell;

/// As it is written and read back: a number of a file has no type. Neither what is expected of a
/// measurement nor what else is measured changes it.
record::Value settings_of(record::Value experiment) {
  if (auto* members = std::get_if<record::Members>(&experiment.is)) {
    std::erase_if(*members, [](const record::Member& each) {
      return each.name == "expectations" || each.name == "sweep";
    });
  }
  return record::value_from(ordered_json::parse(record::to_json(experiment).dump()));
}

/// The record of a point that was finished with these very settings.
std::optional<record::Run> finished(const std::string& folder, const spec::Experiment& experiment) {
  if (!std::filesystem::exists(folder + "/run.json")) return {};
  try {
    record::RunFile file = record::read_run(folder);
    if (!file.complete || !file.summary.experiment) return {};
    const record::Value wanted = record::value_from(spec::to_json(experiment));
    if (settings_of(*file.summary.experiment) != settings_of(wanted)) return {};
    return std::move(file.summary);
  } catch (const Error&) {
    return {};  // not ours, or cut off: it is run again
  }
}

/// A point as points.csv shows it.
struct PointRow {
  const record::Point& point;
  const record::Run& run;
  std::string settings;
  record::Job job = {};  ///< the first
  record::Times step = {};
};

double share_of(const PointRow& row) {
  return row.run.utilisation ? row.run.utilisation->share : 0;
}

record::CrossTraffic cross_of(const PointRow& row) {
  return row.run.cross_traffic.value_or(record::CrossTraffic{});
}

constexpr std::array<result::Filled<PointRow>, 22> kColumns{{
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
    {"busiest_share", [](const PointRow& r) -> Cell { return share_of(r); }},
    {"steps", [](const PointRow& r) -> Cell { return r.job.steps.value_or(0); }},
    {"step_mean_s", [](const PointRow& r) -> Cell { return r.step.mean_s.value_or(0); }},
    {"step_mean_low_s", [](const PointRow& r) -> Cell { return r.step.mean_low_s; }},
    {"step_mean_high_s", [](const PointRow& r) -> Cell { return r.step.mean_high_s; }},
    {"step_p99_s", [](const PointRow& r) -> Cell { return r.step.p99_s; }},
    {"gradient_bytes", [](const PointRow& r) -> Cell { return r.job.gradient_bytes; }},
    {"demand_bytes", [](const PointRow& r) -> Cell { return r.job.demand_bytes; }},
    {"step_sent_bytes", [](const PointRow& r) -> Cell { return r.job.step_sent_bytes; }},
    {"scale",
     [](const PointRow& r) -> Cell { return number_of(setting(r.run, "run.scale")).value_or(0); }},
    {"capacity_bps", [](const PointRow& r) -> Cell { return cross_of(r).capacity_bps; }},
    {"traffic_requested_bps", [](const PointRow& r) -> Cell { return cross_of(r).requested_bps; }},
    {"traffic_achieved_bps", [](const PointRow& r) -> Cell { return cross_of(r).achieved_bps; }},
}};

void write_point(result::TableFile& table, const record::Point& point, const record::Run& run) {
  PointRow row{
      .point = point, .run = run, .settings = fmt::format("{}", fmt::join(point.settings, " "))};
  if (!run.jobs.empty()) row.job = run.jobs.front();
  row.step = row.job.step.value_or(record::Times{});
  result::write_row(table, kColumns, row);
}

class Sweep {
 public:
  Sweep(const SweepRequest& request, record::RunFolder& folder, const SweepObserver& observer)
      : request_(request), folder_(folder), observer_(observer) {}

  Swept run() && {
    result::TableFile& table = folder_.table("points");
    std::vector<record::Point> points;
    for (std::size_t i = 0; i < request_.points.size() && !swept_.interrupted; ++i) {
      if (observer_.begin) observer_.begin(i, run_now_);
      bool whole = true;
      record::Run run = run_of(i, whole);
      points.push_back(point_of(i, run, whole));
      write_point(table, points.back(), run);
    }
    swept_.run = {.command = "run", .name = *request_.experiment.name};
    swept_.run.sweep = record::Sweep{.points = request_.points.size()};
    swept_.run.points = std::move(points);
    swept_.run.experiment = record::value_from(spec::to_json(request_.experiment));
    folder_.finish(swept_.run, swept_.interrupted  ? "interrupted"
                               : swept_.is_whole() ? ""
                                                   : "points failed");
    return std::move(swept_);
  }

 private:
  record::Run run_of(std::size_t i, bool& whole) {
    const std::string at = fmt::format("{}/{}", folder_.path(), request_.points[i].folder);
    const spec::Experiment& experiment = request_.experiments[i];
    if (!request_.again) {
      if (auto run = finished(at, experiment)) {
        if (observer_.judge) observer_.judge(i, *run);
        return *std::move(run);
      }
    }
    ++run_now_;
    record::RunFolder folder(at, request_.provenance, result::IfThere::Replace);
    Observer observer = observer_.run;
    if (observer_.judge) observer.judge = [&](record::Run& run) { observer_.judge(i, run); };
    Measured measured = measure(experiment, request_.place, folder, observer);
    whole = measured.is_whole();
    swept_.interrupted = measured.interrupted;
    if (measured.failure && observer_.failed) observer_.failed(i, *measured.failure);
    return std::move(measured.run);
  }

  record::Point point_of(std::size_t i, const record::Run& run, bool whole) const {
    record::Point point{.folder = request_.points[i].folder,
                        .settings = request_.points[i].settings,
                        .complete = whole,
                        .checks_ok = whole && record::all_ok(run.checks),
                        .jobs = run.jobs,
                        .cross_traffic = run.cross_traffic,
                        .utilisation = run.utilisation};
    point.expectations = run.expectations.value_or(std::vector<record::Expectation>());
    return point;
  }

  const SweepRequest& request_;
  record::RunFolder& folder_;
  const SweepObserver& observer_;
  Swept swept_;
  std::size_t run_now_ = 0;
};

}  // namespace

bool Swept::is_whole() const {
  return !interrupted && run.points && run.sweep && run.points->size() == run.sweep->points &&
         std::all_of(run.points->begin(), run.points->end(),
                     [](const record::Point& point) { return point.complete; });
}

void require_sweepable(const std::string& folder) {
  if (!std::filesystem::exists(folder + "/run.json")) return;
  if (record::read_run(folder).summary.sweep) return;
  if (!std::filesystem::exists(folder + "/steps.csv")) return;
  throw SystemError(fmt::format(
      "{} holds a run that is no sweep; choose another place with --out, or replace it with "
      "--force",
      folder));
}

std::optional<Swept> finished_sweep(const SweepRequest& request, const std::string& folder,
                                    const SweepObserver& observer) {
  if (!std::filesystem::exists(folder + "/run.json")) return {};
  record::RunFile there = record::read_run(folder);
  auto& points = there.summary.points;
  if (!there.complete || !points || points->size() != request.points.size()) return {};
  for (std::size_t i = 0; i < points->size(); ++i) {
    auto run =
        finished(fmt::format("{}/{}", folder, request.points[i].folder), request.experiments[i]);
    if (!run) return {};
    if (observer.judge) observer.judge(i, *run);
    (*points)[i].expectations = run->expectations;
  }
  Swept swept;
  swept.run = std::move(there.summary);
  return swept;
}

std::vector<SweepPoint> points_of(const spec::Experiment& experiment) {
  std::vector<SweepPoint> points{{}};
  for (const spec::SweepAxis& axis : experiment.sweep) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().settings.push_back(axis.key + "=" + value);
      }
    }
    points = std::move(longer);
  }
  const int repeats = *experiment.run.repeats;
  std::vector<SweepPoint> all;
  for (const SweepPoint& point : points) {
    for (int i = 0; i < repeats; ++i) {
      all.push_back(point);
      if (repeats > 1) {
        all.back().settings.push_back(
            fmt::format("run.seed={}", *experiment.run.seed + static_cast<std::uint64_t>(i)));
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].folder = fmt::format("point-{:03}", i);
  return all;
}

Swept sweep(const SweepRequest& request, record::RunFolder& folder, const SweepObserver& observer) {
  return Sweep(request, folder, observer).run();
}

}  // namespace tw::lab
