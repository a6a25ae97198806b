// SPDX-License-Identifier: Apache-2.0
// Judges kept runs again: judge_run EXPERIMENT RUN prints the record with its accounting and verdict
// as this version makes them, as one JSON document. The run's folder stays as it is.

#include "trainwire/account/account.h"
#include "trainwire/base/error.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

int main(int argc, char** argv) {
  tw::command::ExperimentFile experiment;
  std::string folder;
  bool trust = false;
  CLI::App app("Judges a run again");
  app.add_option("EXPERIMENT", experiment.path)->required();
  app.add_option("RUN", folder)->required();
  app.add_option("--set", experiment.overrides);
  app.add_flag("--trust", trust, "also where the machine was short of processor time");
  CLI11_PARSE(app, argc, argv);
  try {
    tw::record::Run run = tw::record::read_run(folder).summary;
    if (trust) {
      run.cpu_bound = false;
      for (tw::record::Check& check : run.checks) check.ok = true;
    }
    tw::account::add(tw::command::load(experiment), run);
    fmt::print("{}\n", tw::record::dumped(run));
  } catch (const tw::Error& error) {
    fmt::print(stderr, "judge_run: {}\n", error.what());
    return 1;
  }
  return 0;
}
