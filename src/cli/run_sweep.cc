// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_sweep.h"

#include "trainwire/account/account.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/sweep_output.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/in_time.h"
#include "trainwire/command/run_status.h"
#include "trainwire/lab/measure.h"
#include "trainwire/os/clock.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/spread/sweep_array.h"
#include "trainwire/sweep/earlier.h"
#include "trainwire/sweep/points.h"
#include "trainwire/sweep/sweep.h"
#include "trainwire/terminal/status.h"
#include "trainwire/text/runs_to_come.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace tw::cli {
namespace {

/// Tells of each point before it is run.
class SweepStatus {
 public:
  SweepStatus(const RunOptions& options, const std::vector<sweep::Planned>& points,
              const std::vector<spec::Experiment>& experiments, command::Streams streams)
      : options_(options), points_(points), experiments_(experiments), streams_(streams) {}

  sweep::Observer observer() {
    sweep::Observer observer;
    observer.begin = [this](const sweep::Progress& progress) {
      line_.begin();
      tell(progress);
    };
    observer.judge = [this](std::size_t point, record::Run& run) {
      command::judge_all(experiments_[point].expectations, "run", run);
    };
    observer.failed = [this](std::size_t point, const std::string& why) {
      fmt::print(streams_.err, "trainwire: {}: {}\n", settings_text(points_[point].settings), why);
    };
    return observer;
  }
  /// Of each run.
  lab::Observer run_observer() { return line_.observer(); }
  /// Takes the line off.
  void wipe() { line_.wipe(); }

 private:
  void tell(const sweep::Progress& progress) const {
    const auto [point, done, run_now] = progress;
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
  const std::vector<sweep::Planned>& points_;
  const std::vector<spec::Experiment>& experiments_;
  command::Streams streams_;
  command::RunStatus line_{streams_, options_.place.quiet};
  std::int64_t began_ns_ = os::monotonic_ns();
};

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
                                     const std::vector<sweep::Planned>& points) {
  std::vector<spec::Experiment> experiments;
  for (const sweep::Planned& point : points) {
    experiments.push_back(command::load(file_of(*options.experiment, point)));
    lab::require_runnable(experiments.back(), place_of(options));
    command::require_in_time(experiments.back(), place_of(options));
  }
  return experiments;
}

SweepEnd end_of(const RunOptions& options) {
  return {.json = options.json,
          .quiet = options.place.quiet,
          .no_page = options.no_page,
          .keep_going = options.keep_going};
}

spread::ArrayOptions array_options(const RunOptions& options) {
  spread::ArrayOptions made{.experiment = *options.experiment, .quiet = options.place.quiet};
  if (!options.place.interface.empty()) {
    made.more.insert(made.more.end(), {"--interface", options.place.interface});
  }
  if (options.place.shape) made.more.emplace_back("--shape");
  if (options.keep) made.more.emplace_back("--keep");
  if (options.transfers) made.more.emplace_back("--transfers");
  return made;
}

/// Measures points one after another, each into its folder.
sweep::Engine engine_of(const RunOptions& options, const sweep::Request& request,
                        const lab::Observer& looking) {
  return {.command = "run", .attempt = [&](std::size_t i, const std::string& at) {
            lab::Observer observer = looking;
            observer.judge = [&](record::Run& run) {
              account::add(request.experiments[i], run, {.budget_s = 1});
              command::judge_all(request.experiments[i].expectations, "run", run);
            };
            record::RunFolder folder(at, request.provenance, result::IfThere::Replace);
            lab::Measured measured =
                lab::measure(request.experiments[i], place_of(options), folder, observer);
            return sweep::Attempt{.run = std::move(measured.run),
                                  .failure = std::move(measured.failure),
                                  .interrupted = measured.interrupted};
          }};
}

}  // namespace

int tell_plan(const RunOptions& options, const spec::Experiment& experiment,
              command::Streams streams) {
  const std::string path = sweep_folder(options.out, *options.experiment);
  text::RunsToCome runs{.until = *experiment.run.repeat_until};
  const std::vector<sweep::Planned> points = sweep::points_of(experiment);
  const std::vector<spec::Experiment> experiments = loaded(options, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool alone = points.size() == 1 && points[i].settings.empty();
    runs.points.push_back(
        {.folder = alone ? path : fmt::format("{}/{}", path, points[i].folder),
         .settings = points[i].settings,
         .steps = experiments[i].jobs.empty() ? 0 : *experiments[i].jobs.front().steps,
         .least = command::least_time(experiments[i], place_of(options)),
         .finished =
             !alone && !options.force && sweep::is_finished(path, points[i], experiments[i])});
  }
  fmt::print(streams.out, "{}",
             options.json ? record::dumped(text::to_json(runs)) + "\n" : text::to_text(runs));
  return command::kDone;
}

int run_sweep(const RunOptions& options, const spec::Experiment& experiment,
              command::Streams streams) {
  const std::vector<sweep::Planned> points = sweep::points_of(experiment);
  const std::vector<spec::Experiment> experiments = loaded(options, points);
  const std::string path = sweep_folder(options.out, *options.experiment);
  if (!options.force) sweep::require_sweepable(path);
  SweepStatus status(options, points, experiments, streams);
  const sweep::Request request{
      .experiment = experiment,
      .points = points,
      .experiments = experiments,
      .again = options.force,
      .retries = options.retry,
      .provenance = command::provenance_of("run", *options.experiment, streams)};
  if (!options.force) {
    if (const auto there = sweep::finished_sweep(request, path, status.observer())) {
      status.wipe();
      fmt::print(streams.err, "trainwire: all {} points are there; --force runs them again\n",
                 points.size());
      return end_sweep(end_of(options), *there, path, streams);
    }
  }
  record::RunFolder folder = command::take_folder("run", *options.experiment, path, true, streams);
  const lab::Observer looking = status.run_observer();
  sweep::Observer observer = status.observer();
  std::optional<spread::SweepArray> array;
  if (spread::is_array(place_of(options))) {
    array.emplace(array_options(options), request, folder.path(), looking, streams);
    observer.begin = {};  // they begin together
  }
  const sweep::Swept swept = sweep::conduct(
      request, array ? array->engine() : engine_of(options, request, looking), folder, observer);
  status.wipe();
  return end_sweep(end_of(options), swept, folder.path(), streams);
}

}  // namespace tw::cli
