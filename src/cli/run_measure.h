// SPDX-License-Identifier: Apache-2.0
// One experiment trained and measured, into one run folder.

#pragma once

#include "trainwire/cli/lab_output.h"
#include "trainwire/cli/run_text.h"
#include "trainwire/cli/training_run.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace tw::cli {

struct RunOptions {
  std::shared_ptr<ExperimentFile> experiment;
  TrainingPlace place;
  std::string out;
  bool force = false;
  bool json = false;
  bool keep = false;
  bool keep_going = false;
  bool transfers = false;
};

struct RunReport {
  lab::ConductOutcome outcome;
  CaptureResult captured;
  RunView view;
  nlohmann::ordered_json document;
};

/// Throws SpecError for an experiment that cannot be run.
void require_runnable(const RunOptions& options, const spec::Experiment& experiment,
                      Streams streams);

/// Runs it, fills and finishes the folder. A rank that fails is part of the report. Throws Error
/// when it cannot be run at all.
RunReport measure(const RunOptions& options, const spec::Experiment& experiment,
                  result::RunFolder& folder, Streams streams);

}  // namespace tw::cli
