// SPDX-License-Identifier: Apache-2.0
// What `run` and `sim` of a sweep have in common: its folder, its points' experiments, and what is
// printed, left and returned at its end.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/sweep/points.h"
#include "trainwire/sweep/sweep.h"

#include <string>
#include <vector>

namespace tw::cli {

/// "network.loss=0.01 job.steps=3".
std::string settings_text(const std::vector<std::string>& settings);

/// `out`, or the experiment's name with .run, here, whether it is there or not: a sweep goes on.
std::string sweep_folder(const std::string& out, const command::ExperimentFile& experiment);

/// The experiment as a point has it.
command::ExperimentFile file_of(const command::ExperimentFile& experiment,
                                const sweep::Planned& point);

/// How a sweep ends.
struct SweepEnd {
  bool json = false;
  bool quiet = false;
  bool no_page = false;
  bool keep_going = false;  ///< a check that failed is no failure
};

/// Prints the points, leaves the pages, and returns the exit code.
int end_sweep(const SweepEnd& end, const sweep::Swept& swept, const std::string& folder,
              command::Streams streams);

}  // namespace tw::cli
