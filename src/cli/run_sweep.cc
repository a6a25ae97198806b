// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_sweep.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/in_time.h"
#include "trainwire/command/run_status.h"
#include "trainwire/lab/sweep.h"
#include "trainwire/os/clock.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/terminal/status.h"
#include "trainwire/text/run_text.h"
#include "trainwire/text/runs_to_come.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace tw::cli {
namespace {

command::ExperimentFile file_of(const RunOptions& options, const lab::SweepPoint& point) {
  command::ExperimentFile file = *options.experiment;
  file.overrides.insert(file.overrides.end(), point.settings.begin(), point.settings.end());
  return file;
}

std::string settings_text(const std::vector<std::string>& settings) {
  return printable(fmt::format("{}", fmt::join(settings, " ")));
}

/// Tells of each point before it is run.
class SweepStatus {
 public:
  SweepStatus(const RunOptions& options, const std::vector<lab::SweepPoint>& points,
              const std::vector<spec::Experiment>& experiments, command::Streams streams)
      : options_(options), points_(points), experiments_(experiments), streams_(streams) {}

  lab::SweepObserver observer() {
    lab::SweepObserver observer;
    observer.begin = [this](std::size_t point, std::size_t done, std::size_t run_now) {
      line_.begin();
      tell(point, done, run_now);
    };
    observer.judge = [this](std::size_t point, record::Run& run) {
      command::judge_all(experiments_[point].expectations, "run", run);
    };
    observer.failed = [this](std::size_t point, const std::string& why) {
      fmt::print(streams_.err, "trainwire: {}: {}\n", settings_text(points_[point].settings), why);
    };
    observer.run = line_.observer();
    return observer;
  }
  /// Takes the line off.
  void wipe() { line_.wipe(); }

 private:
  void tell(std::size_t point, std::size_t done, std::size_t run_now) const {
    if (options_.place.quiet) return;
    std::string line = fmt::format("point {} of {}: {}", point + 1, points_.size(),
                                   settings_text(points_[point].settings));
    if (run_now > 0) {
      const double each =
          1e-9 * static_cast<double>(os::monotonic_ns() - began_ns_) / static_cast<double>(run_now);
      line +=
          fmt::format(", about {} left", terminal::in_words(std::chrono::duration<double>(
                                             each * static_cast<double>(points_.size() - done))));
    }
    fmt::print(streams_.err, "{}\n", line);
    streams_.err.flush();
  }

  const RunOptions& options_;
  const std::vector<lab::SweepPoint>& points_;
  const std::vector<spec::Experiment>& experiments_;
  command::Streams streams_;
  command::RunStatus line_{streams_, options_.place.quiet};
  std::int64_t began_ns_ = os::monotonic_ns();
};

/// What was expected is expected of every point.
int judged_code(const std::vector<record::Point>& points, command::Streams streams) {
  int code = command::kDone;
  for (const record::Point& point : points) {
    for (const command::Judged& one : point.expectations.value_or(std::vector<command::Judged>())) {
      if (one.ok) continue;
      fmt::print(streams.err, "trainwire: NOT AS EXPECTED: {}: {}: {}\n", point.folder,
                 settings_text(point.settings), printable(one.text));
      code = command::kExpectationFailed;
    }
  }
  return code;
}

/// Of each point that has none yet, then of the sweep, whose page leads to them.
void leave_pages(const std::vector<record::Point>& points, const std::string& folder, bool tells,
                 command::Streams streams) {
  for (const record::Point& point : points) {
    const std::string at = fmt::format("{}/{}", folder, point.folder);
    if (record::is_run(at) && !std::filesystem::exists(at + "/report.html")) {
      leave_page(at, false, streams);
    }
  }
  leave_page(folder, tells, streams);
}

int report(const RunOptions& options, const lab::Swept& swept, const std::string& folder,
           command::Streams streams) {
  const std::vector<record::Point>& points = *swept.run.points;
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(swept.run));
  } else {
    fmt::print(streams.out, "{}", text::points_text(points, folder));
  }
  if (!options.no_page) leave_pages(points, folder, !options.json && !options.place.quiet, streams);
  if (swept.interrupted) {
    fmt::print(streams.err,
               "trainwire: interrupted after {} of {} points; the same command goes on\n",
               points.size() - 1, swept.run.sweep->points);
    return command::kInterrupted;
  }
  const bool good = std::all_of(points.begin(), points.end(),
                                [](const record::Point& point) { return point.checks_ok; });
  const int code = judged_code(points, streams);
  return (good || options.keep_going) && swept.is_whole() ? code : command::kRunFailed;
}

}  // namespace

lab::RunPlace place_of(const RunOptions& options) {
  lab::RunPlace place = options.place.place();
  place.keeps_captures = options.keep;
  place.logs_transfers = options.transfers;
  return place;
}

namespace {

/// The experiments of all points: a wrong one is told before the first one runs.
std::vector<spec::Experiment> loaded(const RunOptions& options,
                                     const std::vector<lab::SweepPoint>& points) {
  std::vector<spec::Experiment> experiments;
  for (const lab::SweepPoint& point : points) {
    experiments.push_back(command::load(file_of(options, point)));
    lab::require_runnable(experiments.back(), place_of(options));
    command::require_in_time(experiments.back(), place_of(options));
  }
  return experiments;
}

std::string folder_of(const RunOptions& options) {
  return options.out.empty() ? command::default_folder(*options.experiment, true) : options.out;
}

}  // namespace

int tell_plan(const RunOptions& options, const spec::Experiment& experiment,
              command::Streams streams) {
  const std::string path = folder_of(options);
  text::RunsToCome runs{.until = *experiment.run.repeat_until};
  const std::vector<lab::SweepPoint> points = lab::points_of(experiment);
  const std::vector<spec::Experiment> experiments = loaded(options, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool alone = points.size() == 1 && points[i].settings.empty();
    runs.points.push_back(
        {.folder = alone ? path : fmt::format("{}/{}", path, points[i].folder),
         .settings = points[i].settings,
         .steps = experiments[i].jobs.empty() ? 0 : *experiments[i].jobs.front().steps,
         .least = command::least_time(experiments[i], place_of(options)),
         .finished =
             !alone && !options.force && lab::is_finished(path, points[i], experiments[i])});
  }
  fmt::print(streams.out, "{}",
             options.json ? record::dumped(text::to_json(runs)) + "\n" : text::to_text(runs));
  return command::kDone;
}

int run_sweep(const RunOptions& options, const spec::Experiment& experiment,
              command::Streams streams) {
  const std::vector<lab::SweepPoint> points = lab::points_of(experiment);
  const std::vector<spec::Experiment> experiments = loaded(options, points);
  const std::string path = folder_of(options);
  if (!options.force) lab::require_sweepable(path);
  SweepStatus status(options, points, experiments, streams);
  const lab::SweepRequest request{
      .experiment = experiment,
      .points = points,
      .experiments = experiments,
      .place = place_of(options),
      .again = options.force,
      .retries = options.retry,
      .provenance = command::provenance_of("run", *options.experiment, streams)};
  if (!options.force) {
    if (const auto there = lab::finished_sweep(request, path, status.observer())) {
      status.wipe();
      fmt::print(streams.err, "trainwire: all {} points are there; --force runs them again\n",
                 points.size());
      return report(options, *there, path, streams);
    }
  }
  record::RunFolder folder = command::take_folder("run", *options.experiment, path, true, streams);
  const lab::Swept swept = lab::sweep(request, folder, status.observer());
  status.wipe();
  return report(options, swept, folder.path(), streams);
}

}  // namespace tw::cli
