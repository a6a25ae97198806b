// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/account.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/cli/run_sweep.h"
#include "trainwire/cluster/manifest.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/in_time.h"
#include "trainwire/command/run_options.h"
#include "trainwire/command/run_status.h"
#include "trainwire/fleet/launch.h"
#include "trainwire/fleet/seat.h"
#include "trainwire/lab/alone.h"
#include "trainwire/lab/measure.h"
#include "trainwire/record/json.h"
#include "trainwire/spec/print.h"
#include "trainwire/sweep/sweep.h"
#include "trainwire/text/run_text.h"
#include "trainwire/transport/tcp/hello.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>

namespace tw::cli {
namespace {

int interrupted(const std::string& folder, command::Streams streams) {
  fmt::print(streams.err, "trainwire: interrupted; {} holds what there was until then\n", folder);
  return command::kInterrupted;
}

int report(const RunOptions& options, const lab::Measured& measured, const std::string& name,
           const std::string& folder, command::Streams streams) {
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(measured.run));
  } else if (!options.place.quiet) {
    fmt::print(streams.out, "{}", text::run_text(measured.run, name, folder));
  }
  if (!options.no_page) leave_page(folder, !options.json && !options.place.quiet, streams);
  streams.out.flush();
  if (measured.interrupted) return interrupted(folder, streams);
  if (measured.failure) {
    throw Error(fmt::format("{}; {} holds what there was until then", *measured.failure, folder));
  }
  const auto& judged = measured.run.expectations;
  const int code = judged ? command::expectations_code(*judged, streams.err) : command::kDone;
  return command::checks_code(measured.run.checks, options.keep_going, code, streams);
}

/// Nothing when it was interrupted before the jobs ran together.
std::optional<lab::Measured> measured_into(record::RunFolder& folder, const RunOptions& options,
                                           const spec::Experiment& experiment,
                                           command::Streams streams) {
  const lab::RunPlace place = place_of(options);
  command::RunStatus status(streams, options.place.quiet);
  lab::Observer observer = status.observer();
  lab::AloneRuns alone;
  observer.judge = [&](record::Run& run) {
    lab::add_alone(run, alone);
    account::add(experiment, run);
    command::judge_all(experiment.expectations, "run", run);
  };
  if (options.alone && experiment.jobs.size() > 1) {
    folder.table("steps");  // from here on the folder is that of a run that is not whole
    alone =
        lab::measure_alone(experiment, place, folder.path(),
                           command::provenance_of("run", *options.experiment, streams), observer);
    if (alone.interrupted) return {};
  }
  lab::Measured measured = lab::measure(experiment, place, folder, observer);
  status.wipe();
  return measured;
}

/// What speaks for measuring once more; nothing when all is well, or nobody wants more.
std::optional<std::string> trouble_of(const lab::Measured& measured) {
  if (measured.interrupted) return {};
  return measured.failure ? measured.failure : sweep::problem_of(measured.run);
}

/// Measures until all is well, --retry times more at most.
int run_once(const RunOptions& options, const spec::Experiment& experiment,
             command::Streams streams) {
  const std::string name = experiment.name->empty() ? options.experiment->path : *experiment.name;
  std::string path = options.out;
  for (int again = 0;; ++again) {
    record::RunFolder folder =
        command::take_folder("run", *options.experiment, path, options.force || again > 0, streams);
    path = folder.path();
    const auto measured = measured_into(folder, options, experiment, streams);
    if (!measured) return interrupted(path, streams);
    const auto trouble = trouble_of(*measured);
    if (!trouble || again >= options.retry) {
      return report(options, *measured, name, path, streams);
    }
    fmt::print(streams.err, "trainwire: {}; once more, {} of {}\n", printable(*trouble), again + 1,
               options.retry);
  }
}

/// Nothing is started: the objects go to standard output.
int print_manifest(const RunOptions& options, const spec::Experiment& experiment,
                   command::Streams streams) {
  if (options.image.empty()) {
    throw SpecError("--launch manifest:k8s: which image has trainwire? say --image NAME");
  }
  const auto given = fleet::own_variable(fleet::kTokenVariable);
  fmt::print(streams.out, "{}",
             cluster::kubernetes_manifest(
                 {.name = *experiment.name,
                  .image = options.image,
                  .experiment = spec::to_toml(experiment),
                  .token = given.value_or(transport::tcp::text_of(transport::tcp::make_token())),
                  .hosts = *experiment.network.hosts,
                  .port = options.place.port > 0 ? options.place.port : 29600,
                  .shapes = options.place.shape}));
  return command::kDone;
}

int run_experiment(const RunOptions& options, command::Streams streams) {
  if (options.steps) {
    options.experiment->overrides.push_back(fmt::format("job.steps={}", *options.steps));
  }
  command::read(*options.experiment);
  const spec::Experiment experiment = command::load(*options.experiment);
  command::refuse_simulated(experiment, "run");
  if (options.retry < 0) throw SpecError("--retry takes how often: 0 or more");
  if (options.place.launch == "manifest:k8s") return print_manifest(options, experiment, streams);
  if (options.dry_run) return tell_plan(options, experiment, streams);
  if (!experiment.sweep.empty() || *experiment.run.repeats > 1) {
    if (options.alone) {
      throw SpecError(
          "--alone goes with one run, not with a sweep or repeats; run the point of "
          "interest by itself, with --set");
    }
    return run_sweep(options, experiment, streams);
  }
  const lab::RunPlace place = place_of(options);
  lab::require_runnable(experiment, place);
  command::require_in_time(experiment, place);
  return run_once(options, experiment, streams);
}

}  // namespace

command::Body declare_run(command::CommandLine& app) {
  const auto options = std::make_shared<RunOptions>();
  options->experiment = command::add_experiment_file(app);
  command::add_place(app, options->place);
  command::add_launch(app, options->place);
  app.add_option(
         "-o,--out", options->out,
         "run folder; default: the experiment's name with .run, here. A sweep goes on in the "
         "folder that it left")
      .type_name("DIR");
  app.add_option("--image", options->image,
                 "with --launch manifest:k8s, which prints objects for kubectl: the image that has "
                 "trainwire")
      .type_name("NAME");
  app.add_option("--steps", options->steps, "of every job, instead of what the experiment says")
      .type_name("N");
  app.add_flag(
      "--alone", options->alone,
      "run each of several jobs by itself too, first, and tell how much slower it is beside "
      "the others; their run folders are alone-0, alone-1... in the run's");
  app.add_option(
         "--retry", options->retry,
         "run again, so often at most, what failed or failed a check; of a sweep also those "
         "points of an earlier start. Default 0")
      .type_name("N");
  app.add_flag("--dry-run", options->dry_run,
               "print what would be run, into which folders, and how long it takes at least");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--keep", options->keep, "keep the captures after their analysis");
  app.add_flag("--transfers", options->transfers,
               "have the ranks write down every transfer, into transfers.csv; costs time and disk");
  app.add_flag("--keep-going", options->keep_going, "exit with 0 although a check failed");
  add_no_page(app, options->no_page);
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return run_experiment(*options, streams); };
}

}  // namespace tw::cli
