// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sweep/sweep.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/spec/print.h"
#include "trainwire/sweep/earlier.h"
#include "trainwire/sweep/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace tw::sweep {
namespace {

record::Point point_of(const Planned& given, const Attempt& attempt) {
  const record::Run& run = attempt.run;
  const auto failure =
      attempt.interrupted ? std::optional<std::string>(kInterrupted) : attempt.failure;
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

class Conducted {
 public:
  Conducted(const Request& request, const Engine& engine, record::RunFolder& folder,
            const Observer& observer)
      : request_(request), engine_(engine), folder_(folder), observer_(observer) {}

  Swept run() && {
    if (engine_.keeps_folders) {
      folder_.table("points");  // from here on the folder is that of a sweep that is not whole
    } else if (!request_.again) {
      recorded_.emplace(folder_.path(), request_.provenance);
    }
    Repetitions repetitions(request_.experiment.run);
    for (std::size_t begin = 0, end = 0; begin < request_.points.size() && !stops_; begin = end) {
      std::vector<std::size_t> wanted;
      for (end = begin; end < request_.points.size() && is_same_repetition(begin, end); ++end) {
        if (repetitions.needs(request_.points[end])) wanted.push_back(end);
      }
      reach_all(wanted);
      for (const std::size_t i : wanted) {
        if (found_.contains(i)) repetitions.take(request_.points[i], found_.at(i));
      }
    }
    return finished();
  }

 private:
  bool is_same_repetition(std::size_t a, std::size_t b) const {
    return request_.points[a].repetition == request_.points[b].repetition;
  }

  void reach_all(const std::vector<std::size_t>& wanted) {
    if (engine_.spread) spread(wanted);
    if (engine_.on_all_processors) {
      in_parallel(wanted.size(), [&](std::size_t n) { reach(wanted[n]); });
    } else {
      for (const std::size_t i : wanted) reach(i);
    }
  }

  /// Those that are not there.
  void spread(const std::vector<std::size_t>& wanted) {
    std::vector<std::size_t> missing;
    for (const std::size_t i : wanted) {
      if (!there(i, at(i))) missing.push_back(i);
    }
    if (!missing.empty()) engine_.spread(missing);
  }

  std::string at(std::size_t i) const {
    return fmt::format("{}/{}", folder_.path(), request_.points[i].folder);
  }

  void reach(std::size_t i) {
    if (stops_) return;
    try {
      tell_begin(i);
      std::optional<record::Point> before = there(i, at(i));
      record::Point point = before ? std::move(*before) : conducted(i, at(i));
      const std::lock_guard lock(mutex_);
      run_now_ += before ? 0 : 1;
      found_.emplace(i, std::move(point));
    } catch (...) {
      stops_ = true;
      throw;
    }
  }

  void tell_begin(std::size_t i) {
    const std::lock_guard lock(mutex_);
    if (observer_.begin) {
      observer_.begin({.point = i, .done = found_.size(), .run_now = run_now_});
    }
  }

  record::Point conducted(std::size_t i, const std::string& at) {
    record::Point point = attempt(i, at);
    for (int again = 0; again < request_.retries && point.problem && !stops_; ++again) {
      point = attempt(i, at);
    }
    return point;
  }

  std::optional<record::Point> there(std::size_t i, const std::string& at) const {
    const Planned& planned = request_.points[i];
    if (request_.again) return {};
    if (recorded_) {
      const record::Point* point = recorded_->find(planned.settings);
      if (point == nullptr) return {};
      record::Point same = *point;
      same.folder = planned.folder;
      return same;
    }
    auto run = sweep::finished(at, request_.experiments[i]);
    if (!run || (request_.retries > 0 && !record::all_ok(run->checks))) return {};
    if (engine_.name && run->engine != engine_.name) return {};
    if (observer_.judge) observer_.judge(i, *run);
    return point_of(planned, {.run = std::move(*run)});
  }

  record::Point attempt(std::size_t i, const std::string& at) {
    record::Point point = attempted(i, at);
    const std::lock_guard lock(mutex_);
    if (point.problem && observer_.failed && !stops_) observer_.failed(i, *point.problem);
    return point;
  }

  record::Point attempted(std::size_t i, const std::string& at) {
    try {
      const Attempt made = engine_.attempt(i, at);
      if (made.interrupted) stops_ = interrupted_ = true;
      return point_of(request_.points[i], made);
    } catch (const SystemError&) {
      throw;
    } catch (const SpecError&) {
      throw;
    } catch (const Error& error) {
      return point_of(request_.points[i], {.failure = error.what()});
    }
  }

  Swept finished() {
    Swept swept{.interrupted = interrupted_};
    std::vector<record::Point> points;
    result::TableFile& table = folder_.table("points");
    for (auto& [i, point] : found_) {
      write_point(table, point, *request_.experiments[i].run.scale);
      points.push_back(std::move(point));
    }
    swept.run = {.command = engine_.command, .name = *request_.experiment.name};
    swept.run.engine = engine_.name;
    swept.run.sweep =
        record::Sweep{.points = swept.interrupted ? request_.points.size() : points.size()};
    swept.run.points = std::move(points);
    swept.run.experiment = record::value_from(spec::to_json(request_.experiment));
    folder_.finish(swept.run, swept.interrupted  ? kInterrupted
                              : swept.is_whole() ? ""
                                                 : "points failed");
    return swept;
  }

  const Request& request_;
  const Engine& engine_;
  record::RunFolder& folder_;
  const Observer& observer_;
  std::optional<Recorded> recorded_;
  std::mutex mutex_;  ///< of all below, and of what observers do
  std::map<std::size_t, record::Point> found_;
  std::size_t run_now_ = 0;
  std::atomic<bool> stops_ = false;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

bool Swept::is_whole() const {
  return !interrupted && run.points && run.sweep && run.points->size() == run.sweep->points &&
         std::all_of(run.points->begin(), run.points->end(),
                     [](const record::Point& point) { return point.complete; });
}

std::optional<std::string> problem_of(const record::Run& run) {
  std::vector<std::string> failed;
  for (const record::Check& check : run.checks) {
    if (!check.ok) failed.push_back(fmt::format("check {}: {}", check.name, check.text));
  }
  if (failed.empty()) return {};
  return fmt::format("{}", fmt::join(failed, "; "));
}

std::optional<Swept> finished_sweep(const Request& request, const std::string& folder,
                                    const Observer& observer) {
  if (!std::filesystem::exists(folder + "/run.json") || record::is_cut_off(folder)) return {};
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

Swept conduct(const Request& request, const Engine& engine, record::RunFolder& folder,
              const Observer& observer) {
  return Conducted(request, engine, folder, observer).run();
}

}  // namespace tw::sweep
