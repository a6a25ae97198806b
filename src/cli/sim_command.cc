// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/run_options.h"
#include "trainwire/record/json.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/status.h"
#include "trainwire/text/run_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace tw::cli {
namespace {

struct SimOptions {
  std::shared_ptr<command::ExperimentFile> experiment;
  std::string out;
  std::optional<int> steps;
  bool force = false;
  bool json = false;
  bool quiet = false;
  bool no_page = false;
};

/// Throws SpecError with what to do.
void require_simulable(const spec::Experiment& experiment) {
  if (experiment.jobs.empty()) throw SpecError("no jobs: there is nothing to simulate");
  if (!experiment.sweep.empty() || *experiment.run.repeats > 1) {
    throw SpecError("sim takes one run, not a sweep or repeats; choose a point with --set");
  }
}

int simulate(const SimOptions& options, command::Streams streams) {
  if (options.steps) {
    options.experiment->overrides.push_back(fmt::format("job.steps={}", *options.steps));
  }
  const spec::Experiment experiment = command::load(*options.experiment);
  require_simulable(experiment);
  record::RunFolder folder =
      command::take_folder("sim", *options.experiment, options.out, options.force, streams);
  terminal::Status status(streams.err, terminal::shown_on(streams.err, options.quiet));
  const terminal::InterruptGuard guard;
  const sim::Simulated simulated =
      sim::simulate(experiment, {.goes_on = [&](Duration now) {
                      status.tell(fmt::format("simulated {}", readable(now)));
                      return !guard.interrupted();
                    }});
  status.wipe();
  record::Run run = sim::described(experiment, simulated);
  command::judge_all(experiment.expectations, "sim", run);
  sim::write_tables(simulated, run, folder);
  folder.finish(run, guard.interrupted() ? "interrupted" : "");
  const std::string name = experiment.name->empty() ? options.experiment->path : *experiment.name;
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(run));
  } else if (!options.quiet) {
    fmt::print(streams.out, "{}", text::run_text(run, name, folder.path()));
  }
  if (!options.no_page) leave_page(folder.path(), !options.json && !options.quiet, streams);
  streams.out.flush();
  if (guard.interrupted()) return command::kInterrupted;
  return run.expectations ? command::expectations_code(*run.expectations, streams.err)
                          : command::kDone;
}

}  // namespace

command::Body declare_sim(command::CommandLine& app) {
  const auto options = std::make_shared<SimOptions>();
  options->experiment = command::add_experiment_file(app);
  app.add_option("-o,--out", options->out,
                 "run folder; default: the experiment's name with .run, here")
      .type_name("DIR");
  app.add_option("--steps", options->steps, "of every job, instead of what the experiment says")
      .type_name("N");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("-q,--quiet", options->quiet, "print nothing but errors");
  add_no_page(app, options->no_page);
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return simulate(*options, streams); };
}

}  // namespace tw::cli
