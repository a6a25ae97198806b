// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/sweep.h"

#include "trainwire/base/error.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/result/columns.h"
#include "trainwire/spec/print.h"
#include "trainwire/stats/estimate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace tw::lab {
namespace {

using nlohmann::ordered_json;
using result::Cell;

void drop(record::Value& from, std::initializer_list<std::string_view> names) {
  if (auto* members = std::get_if<record::Members>(&from.is)) {
    std::erase_if(*members, [&](const record::Member& each) {
      return std::find(names.begin(), names.end(), each.name) != names.end();
    });
  }
}

/// As it is written and read back: a number of a file has no type. Neither what is expected of a
/// measurement nor what else is measured, or how often, changes it.
record::Value settings_of(record::Value experiment) {
  drop(experiment, {"expectations", "sweep"});
  if (auto* members = std::get_if<record::Members>(&experiment.is)) {
    for (record::Member& each : *members) {
      if (each.name == "run") drop(each.value, {"repeats", "repeat_until"});
    }
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

void write_point(result::TableFile& table, const record::Point& point, double scale) {
  PointRow row{.point = point,
               .settings = fmt::format("{}", fmt::join(point.settings, " ")),
               .scale = scale};
  if (!point.jobs.empty()) row.job = point.jobs.front();
  row.step = row.job.step.value_or(record::Times{});
  result::write_row(table, kColumns, row);
}

/// Which repetitions are still to be run: all, or until the step is known well enough.
class Repetitions {
 public:
  explicit Repetitions(const spec::Run& run) : until_(*run.repeat_until) {}

  bool needs(const SweepPoint& point) const {
    const auto steps = steps_s_.find(point.combination);
    return !until_ || steps == steps_s_.end() || !is_narrow(steps->second, *until_);
  }
  /// Only what may be relied on counts.
  void take(const SweepPoint& point, const record::Point& found) {
    if (!found.checks_ok || found.jobs.empty() || !found.jobs.front().step) return;
    steps_s_[point.combination].push_back(found.jobs.front().step->median_s);
  }

 private:
  std::optional<double> until_;
  std::map<std::size_t, std::vector<double>> steps_s_ = {};
};

record::Point point_of(const SweepPoint& given, const record::Run& run,
                       const std::optional<std::string>& failure) {
  record::Point point{.folder = given.folder,
                      .settings = given.settings,
                      .complete = !failure,
                      .checks_ok = !failure && record::all_ok(run.checks),
                      .problem = failure ? failure : problem_of(run),
                      .jobs = run.jobs,
                      .cross_traffic = run.cross_traffic,
                      .utilisation = run.utilisation};
  point.expectations = run.expectations.value_or(std::vector<record::Expectation>());
  return point;
}

class Sweep {
 public:
  Sweep(const SweepRequest& request, record::RunFolder& folder, const SweepObserver& observer)
      : request_(request), folder_(folder), observer_(observer) {}

  Swept run() && {
    result::TableFile& table = folder_.table("points");
    Repetitions repetitions(request_.experiment.run);
    std::map<std::size_t, record::Point> found;
    for (std::size_t i = 0; i < request_.points.size() && !swept_.interrupted; ++i) {
      if (!repetitions.needs(request_.points[i])) continue;
      if (observer_.begin) observer_.begin(i, found.size(), run_now_);
      const record::Point& point = found.emplace(i, reached(i)).first->second;
      repetitions.take(request_.points[i], point);
    }
    std::vector<record::Point> points;
    for (auto& [i, point] : found) {
      write_point(table, point, *request_.experiments[i].run.scale);
      points.push_back(std::move(point));
    }
    finish(std::move(points));
    return std::move(swept_);
  }

 private:
  void finish(std::vector<record::Point> points) {
    swept_.run = {.command = "run", .name = *request_.experiment.name};
    swept_.run.sweep =
        record::Sweep{.points = swept_.interrupted ? request_.points.size() : points.size()};
    swept_.run.points = std::move(points);
    swept_.run.experiment = record::value_from(spec::to_json(request_.experiment));
    folder_.finish(swept_.run, swept_.interrupted  ? "interrupted"
                               : swept_.is_whole() ? ""
                                                   : "points failed");
  }

  /// The point, run now unless it is finished.
  record::Point reached(std::size_t i) {
    const std::string at = fmt::format("{}/{}", folder_.path(), request_.points[i].folder);
    if (!request_.again) {
      auto run = finished(at, request_.experiments[i]);
      if (run && (request_.retries == 0 || record::all_ok(run->checks))) {
        if (observer_.judge) observer_.judge(i, *run);
        return point_of(request_.points[i], *run, {});
      }
    }
    ++run_now_;
    record::Point point = attempt(i, at);
    for (int again = 0; again < request_.retries && point.problem && !swept_.interrupted; ++again) {
      point = attempt(i, at);
    }
    return point;
  }

  record::Point attempt(std::size_t i, const std::string& at) {
    Observer observer = observer_.run;
    if (observer_.judge) observer.judge = [&](record::Run& run) { observer_.judge(i, run); };
    record::Point point = measured(i, at, observer);
    if (point.problem && observer_.failed) observer_.failed(i, *point.problem);
    return point;
  }

  /// What is wrong with the machine or the files is wrong for all points, and ends the sweep.
  record::Point measured(std::size_t i, const std::string& at, const Observer& observer) {
    try {
      record::RunFolder folder(at, request_.provenance, result::IfThere::Replace);
      Measured measured = measure(request_.experiments[i], request_.place, folder, observer);
      swept_.interrupted = measured.interrupted;
      return point_of(request_.points[i], measured.run,
                      measured.interrupted ? "interrupted" : measured.failure);
    } catch (const SystemError&) {
      throw;
    } catch (const SpecError&) {
      throw;
    } catch (const Error& error) {
      return point_of(request_.points[i], {}, error.what());
    }
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

bool is_finished(const std::string& folder, const SweepPoint& point,
                 const spec::Experiment& experiment) {
  return finished(fmt::format("{}/{}", folder, point.folder), experiment).has_value();
}

std::optional<Swept> finished_sweep(const SweepRequest& request, const std::string& folder,
                                    const SweepObserver& observer) {
  if (!std::filesystem::exists(folder + "/run.json")) return {};
  record::RunFile there = record::read_run(folder);
  auto& points = there.summary.points;
  if (!there.complete || !points) return {};
  std::map<std::string_view, record::Point*> by_folder;
  for (record::Point& point : *points) by_folder[point.folder] = &point;
  Repetitions repetitions(request.experiment.run);
  for (std::size_t i = 0; i < request.points.size(); ++i) {
    if (!repetitions.needs(request.points[i])) continue;
    const auto point = by_folder.find(request.points[i].folder);
    auto run =
        finished(fmt::format("{}/{}", folder, request.points[i].folder), request.experiments[i]);
    if (!run || point == by_folder.end()) return {};
    if (request.retries > 0 && !record::all_ok(run->checks)) return {};
    if (observer.judge) observer.judge(i, *run);
    point->second->expectations = run->expectations;
    repetitions.take(request.points[i], *point->second);
    by_folder.erase(point);
  }
  if (!by_folder.empty()) return {};  // it was another sweep, with more points
  Swept swept;
  swept.run = std::move(there.summary);
  return swept;
}

std::vector<SweepPoint> points_of(const spec::Experiment& experiment) {
  std::vector<SweepPoint> points{{}};
  const std::vector<spec::SweepAxis>& axes = experiment.sweep;
  for (std::size_t begin = 0, end = 0; begin < axes.size(); begin = end) {
    while (end < axes.size() && axes[end].group == axes[begin].group) ++end;
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points) {
      for (std::size_t value = 0; value < axes[begin].values.size(); ++value) {
        longer.push_back(point);
        for (std::size_t axis = begin; axis < end; ++axis) {
          longer.back().settings.push_back(axes[axis].key + "=" + axes[axis].values[value]);
        }
      }
    }
    points = std::move(longer);
  }
  const int repeats = *experiment.run.repeats;
  std::vector<SweepPoint> all;
  for (int i = 0; i < repeats; ++i) {
    for (std::size_t combination = 0; combination < points.size(); ++combination) {
      all.push_back(points[combination]);
      all.back().combination = combination;
      if (repeats == 1) continue;
      all.back().settings.push_back(
          fmt::format("run.seed={}", *experiment.run.seed + static_cast<std::uint64_t>(i)));
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].folder = fmt::format("point-{:03}", i);
  return all;
}

bool is_narrow(std::span<const double> steps_s, double share) {
  if (steps_s.size() < 3) return false;
  const stats::Estimate mean = stats::mean_estimate(steps_s);
  return std::max(mean.high - mean.value, mean.value - mean.low) <= share * mean.value;
}

Swept sweep(const SweepRequest& request, record::RunFolder& folder, const SweepObserver& observer) {
  return Sweep(request, folder, observer).run();
}

}  // namespace tw::lab
