// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/cli/commands.h"
#include "trainwire/cli/sweep_output.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/run_options.h"
#include "trainwire/os/clock.h"
#include "trainwire/record/json.h"
#include "trainwire/sim/captures.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spread/sim_play.h"
#include "trainwire/spread/sim_spread.h"
#include "trainwire/sweep/earlier.h"
#include "trainwire/sweep/points.h"
#include "trainwire/sweep/sweep.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/status.h"
#include "trainwire/text/run_text.h"
#include "trainwire/text/sim_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tw::cli {
namespace {

using spread::Played;
using spread::played;
using spread::to_simulate;

struct SimOptions {
  std::shared_ptr<command::ExperimentFile> experiment;
  std::string out;
  std::string level = "auto";
  std::optional<int> steps;
  bool force = false;
  bool json = false;
  bool keep = false;
  bool full = false;
  bool pcap = false;
  bool quiet = false;
  bool no_page = false;
  cluster::Spreading spreading = {};  ///< of a sweep, over machines
};

double seconds_since(std::int64_t begin_ns) {
  return 1e-9 * static_cast<double>(os::monotonic_ns() - begin_ns);
}

/// Of all points; of several that are wrong the first is told.
std::vector<spec::Experiment> loaded(const command::ExperimentFile& file,
                                     const std::vector<sweep::Planned>& points) {
  std::vector<spec::Experiment> experiments(points.size());
  std::vector<std::exception_ptr> wrong(points.size());
  in_parallel(points.size(), [&](std::size_t i) {
    try {
      command::ExperimentFile point = file_of(file, points[i]);
      point.overrides.emplace_back("sweep={}");  // whose values were tried with the whole
      experiments[i] = to_simulate(point);
    } catch (...) {
      wrong[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& each : wrong) {
    if (each) std::rethrow_exception(each);
  }
  return experiments;
}

/// `of`: an experiment, or all points of a sweep.
template <typename Of>
sim::Level level_of(const std::string& name, const Of& of) {
  if (name == "auto") return sim::fitting_level(of);
  return name == "packet" ? sim::Level::Packet : sim::Level::Flow;
}

sim::Telling telling_of(const SimOptions& options) {
  return options.full ? sim::Telling::Full : sim::Telling::Whole;
}

/// The same packet by packet, with a capture of every host in the folder.
Played captured(const spec::Experiment& experiment, record::RunFolder& folder,
                const std::function<bool(Duration)>& goes_on) {
  folder.table("steps");  // an earlier run is gone from here on
  sim::Captures captures(experiment, folder.path());
  try {
    Played made = played(experiment, sim::Level::Packet, goes_on,
                         [&captures](const auto& sight) { captures.take(sight); });
    captures.finish();
    return made;
  } catch (const SystemError&) {
    throw;
  } catch (const Error&) {
    captures.finish();  // what led to it
    throw;
  }
}

int simulate_one(const SimOptions& options, const spec::Experiment& experiment,
                 command::Streams streams) {
  record::RunFolder folder =
      command::take_folder("sim", *options.experiment, options.out, options.force, streams);
  terminal::Status status(streams.err, terminal::shown_on(streams.err, options.quiet));
  const terminal::InterruptGuard guard;
  const std::int64_t began_ns = os::monotonic_ns();
  const auto goes_on = [&](Duration now) {
    status.tell(fmt::format("simulated {}", readable(now)));
    return !guard.interrupted();
  };
  const Played made = options.pcap ? captured(experiment, folder, goes_on)
                                   : played(experiment, level_of(options.level, experiment),
                                            goes_on, {}, telling_of(options));
  const text::SimEffort effort{.messages = made.simulated.messages,
                               .took_s = seconds_since(began_ns)};
  status.wipe();
  made.write(folder);
  const std::string name = experiment.name->empty() ? options.experiment->path : *experiment.name;
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(made.run));
  } else if (!options.quiet) {
    fmt::print(streams.out, "{}", text::sim_text(made.run, name, folder.path(), effort));
  }
  if (!options.no_page) leave_page(folder.path(), !options.json && !options.quiet, streams);
  streams.out.flush();
  if (made.interrupted) {
    fmt::print(streams.err, "trainwire: interrupted; {} holds what there was until then\n",
               folder.path());
    return command::kInterrupted;
  }
  const int code = command::expectations_code(*made.run.expectations, streams.err);
  return record::all_ok(made.run.checks) ? code : command::kRunFailed;
}

/// How far a sweep is, and what fails in it.
class SweepStatus {
 public:
  SweepStatus(const SimOptions& options, const std::vector<sweep::Planned>& points,
              command::Streams streams)
      : points_(points),
        streams_(streams),
        line_(streams.err, terminal::shown_on(streams.err, options.quiet)) {}

  sweep::Observer observer() {
    return {
        .begin = [this](const sweep::Progress& progress) { tell(progress); },
        .failed = [this](std::size_t point, const std::string& why) { tell_failed(point, why); }};
  }
  void show(const std::string& text) { line_.tell(text); }
  void wipe() { line_.wipe(); }
  double took_s() const { return seconds_since(began_ns_); }

 private:
  static constexpr double kPause_s = 0.2;
  static constexpr int kMostFailures = 10;

  void tell(const sweep::Progress& progress) {
    const double elapsed = took_s();
    if (elapsed < due_s_) return;
    due_s_ = elapsed + kPause_s;
    std::string line = fmt::format("{} of {} points", progress.done, points_.size());
    if (progress.run_now > 0) {
      const auto left = static_cast<double>(points_.size() - progress.done);
      line += fmt::format(", about {} left",
                          terminal::in_words(std::chrono::duration<double>(
                              left * elapsed / static_cast<double>(progress.run_now))));
    }
    line_.tell(line);
  }

  void tell_failed(std::size_t point, const std::string& why) {
    if (++failures_ > kMostFailures) return;
    line_.wipe();
    fmt::print(streams_.err, "trainwire: {}: {}{}\n", settings_text(points_[point].settings), why,
               failures_ == kMostFailures ? "; points.csv has the others that fail" : "");
  }

  const std::vector<sweep::Planned>& points_;
  command::Streams streams_;
  terminal::Status line_;
  std::int64_t began_ns_ = os::monotonic_ns();
  double due_s_ = 0;
  int failures_ = 0;
};

/// Simulates points on all processors; what cannot be simulated is a point that failed.
class SimulatedPoints {
 public:
  SimulatedPoints(const SimOptions& options, const sweep::Request& request)
      : options_(options),
        request_(request),
        level_(level_of(options.level, std::span(request.experiments))) {}

  sweep::Engine engine() {
    return {.command = "sim",
            .name = std::string(sim::name_of(level_)),
            .attempt = [this](std::size_t i, const std::string& at) { return attempt(i, at); },
            .keeps_folders = options_.keep,
            .on_all_processors = true};
  }
  std::size_t reached() const { return reached_; }

 private:
  sweep::Attempt attempt(std::size_t i, const std::string& at) {
    ++reached_;
    if (guard_.interrupted()) return {.interrupted = true};
    try {
      const spec::Experiment& experiment = request_.experiments[i];
      // Expectations may ask for anything.
      const bool whole = options_.keep || !experiment.expectations.empty();
      Played made = played(
          experiment, level_, [this](Duration) { return !guard_.interrupted(); }, {},
          whole ? telling_of(options_) : sim::Telling::Summary);
      if (options_.keep && !made.interrupted) keep(made, at);
      return {.run = std::move(made.run), .interrupted = made.interrupted};
    } catch (const SystemError&) {
      throw;
    } catch (const Error& error) {  // what cannot be simulated, or does not end
      return {.failure = error.what()};
    }
  }

  void keep(const Played& made, const std::string& at) const {
    record::RunFolder folder(at, request_.provenance, result::IfThere::Replace);
    made.write(folder);
  }

  const SimOptions& options_;
  const sweep::Request& request_;
  const sim::Level level_;
  const terminal::InterruptGuard guard_;
  std::atomic<std::size_t> reached_ = 0;
};

int simulate_sweep(const SimOptions& options, const spec::Experiment& experiment,
                   command::Streams streams) {
  const std::vector<sweep::Planned> points = sweep::points_of(experiment);
  const std::vector<spec::Experiment> experiments = loaded(*options.experiment, points);
  const std::string path = sweep_folder(options.out, *options.experiment);
  if (!options.force) sweep::require_sweepable(path);
  const sweep::Request request{
      .experiment = experiment,
      .points = points,
      .experiments = experiments,
      .again = options.force,
      .provenance = command::provenance_of("sim", *options.experiment, streams)};
  SweepStatus status(options, points, streams);
  SimulatedPoints simulated(options, request);
  spread::SpreadPoints elsewhere(options.spreading, *options.experiment, request,
                                 level_of(options.level, std::span(experiments)));
  if (options.spreading.asked() && options.keep) {
    throw SpecError("--keep: folders of points are made here alone; leave --launch out");
  }
  record::RunFolder folder = command::take_folder("sim", *options.experiment, path, true, streams);
  const sweep::Swept swept =
      sweep::conduct(request,
                     options.spreading.asked()
                         ? elsewhere.engine([&](const std::string& text) { status.show(text); })
                         : simulated.engine(),
                     folder, status.observer());
  status.wipe();
  if (!options.quiet) {
    fmt::print(streams.err, "trainwire: {}\n",
               text::sweep_effort_text(
                   swept.run, options.spreading.asked() ? elsewhere.reached() : simulated.reached(),
                   status.took_s()));
  }
  return end_sweep({.json = options.json, .quiet = options.quiet, .no_page = options.no_page},
                   swept, folder.path(), streams);
}

int simulate(const SimOptions& options, command::Streams streams) {
  if (options.steps) {
    options.experiment->overrides.push_back(fmt::format("job.steps={}", *options.steps));
  }
  command::read(*options.experiment);
  const spec::Experiment experiment = to_simulate(*options.experiment);
  const bool is_one = experiment.sweep.empty() && *experiment.run.repeats == 1;
  if (options.spreading.asked() && is_one) {
    throw SpecError("--launch spreads the points of a sweep; this experiment has none");
  }
  if (options.pcap && !is_one) {
    throw SpecError("--pcap: a sweep leaves no captures; choose a point with --set");
  }
  if (options.pcap && options.level == "flow") {
    throw SpecError("--pcap: fluids have no packets; leave --level out, or write packet");
  }
  return is_one ? simulate_one(options, experiment, streams)
                : simulate_sweep(options, experiment, streams);
}

}  // namespace

command::Body declare_sim(command::CommandLine& app) {
  const auto options = std::make_shared<SimOptions>();
  options->experiment = command::add_experiment_file(app);
  app.add_option("-o,--out", options->out,
                 "run folder; default: the experiment's name with .run, here. A sweep goes on in "
                 "the folder that it left")
      .type_name("DIR");
  app.add_option("--level", options->level,
                 "flow: messages share links as fluids; packet: packets, queues and TCP; "
                 "auto (default): packet where that takes seconds, else flow")
      .type_name("LEVEL")
      .one_of({"flow", "packet", "auto"});
  app.add_option("--steps", options->steps, "of every job, instead of what the experiment says")
      .type_name("N");
  app.add_flag("--force", options->force,
               "replace a run that is in that folder; of a sweep: simulate all points again");
  app.add_flag("--keep", options->keep,
               "keep a run folder for each point of a sweep, with its tables and page");
  app.add_flag("--full", options->full,
               "tell of every rank and every link, also where there are more than 1,024 ranks or "
               "512 directions of links");
  app.add_flag("--pcap", options->pcap,
               "packet by packet, with a capture of every host in the run folder; not of a sweep");
  cluster::add_spreading(app, options->spreading, "points of a sweep");
  app.add_flag("-q,--quiet", options->quiet, "print nothing but errors");
  add_no_page(app, options->no_page);
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return simulate(*options, streams); };
}

}  // namespace tw::cli
