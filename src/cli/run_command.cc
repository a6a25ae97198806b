// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/capture_document.h"
#include "trainwire/cli/command.h"
#include "trainwire/cli/experiment_file.h"
#include "trainwire/cli/run_measure.h"
#include "trainwire/cli/run_sweep.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <memory>

namespace tw::cli {
namespace {

int report(const RunOptions& options, const RunReport& report, const std::string& folder,
           Streams streams) {
  if (options.json) {
    fmt::print(streams.out, "{}\n", dumped(report.document));
  } else if (!options.place.quiet) {
    fmt::print(streams.out, "{}", run_text(report.view, report.captured, folder));
  }
  streams.out.flush();
  if (report.outcome.interrupted) {
    fmt::print(streams.err, "trainwire: interrupted; {} holds what there was until then\n", folder);
    return kInterrupted;
  }
  if (report.outcome.failure) {
    throw Error(
        fmt::format("{}; {} holds what there was until then", *report.outcome.failure, folder));
  }
  const int code = expectations_code(report.view.expectations, streams.err);
  if (all_ok(report.view.checks) || options.keep_going) return code;
  fmt::print(streams.err,
             "trainwire: a check failed, so the figures are not to be relied on; --keep-going "
             "takes them anyway\n");
  return kRunFailed;
}

int run_experiment(const RunOptions& options, Streams streams) {
  const spec::Experiment experiment = load(*options.experiment);
  if (!experiment.sweep.empty() || *experiment.run.repeats > 1) {
    return run_sweep(options, experiment, streams);
  }
  require_runnable(options, experiment, streams);
  result::RunFolder folder =
      take_folder("run", *options.experiment, options.out, options.force, streams);
  const RunReport measured = measure(options, experiment, folder, streams);
  return report(options, measured, folder.path(), streams);
}

}  // namespace

Body declare_run(CommandLine& app) {
  const auto options = std::make_shared<RunOptions>();
  options->experiment = add_experiment_file(app);
  add_training_place(app, options->place);
  app.add_option(
         "-o,--out", options->out,
         "run folder; default: the experiment's name with .run, here. A sweep goes on in the "
         "folder that it left")
      .type_name("DIR");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--keep", options->keep, "keep the captures after their analysis");
  app.add_flag("--transfers", options->transfers,
               "have the ranks write down every transfer, into transfers.csv; costs time and disk");
  app.add_flag("--keep-going", options->keep_going, "exit with 0 although a check failed");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](Streams streams) { return run_experiment(*options, streams); };
}

}  // namespace tw::cli
