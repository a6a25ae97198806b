// SPDX-License-Identifier: Apache-2.0
// A grid of runs: one folder each inside the sweep's, one table over all.
//
// A point that is finished is not run again: the same command goes on where it was interrupted.

#pragma once

#include "trainwire/cli/run_measure.h"

#include <string>
#include <vector>

namespace tw::cli {

/// One point: what it sets, and where it is kept.
struct SweepPoint {
  std::vector<std::string> settings = {};  ///< "network.loss=0.01"
  std::string folder;                      ///< "point-003", inside the sweep's
};

/// All combinations, the last axis fastest; each as often as run.repeats says, with a seed of its
/// own.
std::vector<SweepPoint> points_of(const spec::Experiment& experiment);

/// Returns the exit code. Throws Error.
int run_sweep(const RunOptions& options, const spec::Experiment& experiment, Streams streams);

}  // namespace tw::cli
