// SPDX-License-Identifier: Apache-2.0
// `run` of an experiment with a [sweep], or with repeats.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/run_options.h"
#include "trainwire/spec/experiment.h"

#include <memory>
#include <optional>
#include <string>

namespace tw::cli {

struct RunOptions {
  std::shared_ptr<command::ExperimentFile> experiment;
  command::PlaceOptions place;
  std::string out;
  std::string image;         ///< of pods, where --launch prints a manifest
  std::optional<int> steps;  ///< instead of what the experiment says
  bool alone = false;        ///< each of several jobs by itself too
  int retry = 0;             ///< of what fails, or fails a check
  bool dry_run = false;
  bool force = false;
  bool json = false;
  bool keep = false;
  bool keep_going = false;
  bool transfers = false;
  bool no_page = false;
};
lab::RunPlace place_of(const RunOptions& options);

/// Tells what would be run and how long it takes at least, of a sweep or of one run. Returns the
/// exit code. Throws Error.
int tell_plan(const RunOptions& options, const spec::Experiment& experiment,
              command::Streams streams);

/// Returns the exit code. Throws Error.
int run_sweep(const RunOptions& options, const spec::Experiment& experiment,
              command::Streams streams);

}  // namespace tw::cli
