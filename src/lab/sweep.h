// SPDX-License-Identifier: Apache-2.0
// A grid of runs: one folder each inside the sweep's, one table over all.
//
// A point that is finished is not run again: the same sweep goes on where it was interrupted.

#pragma once

#include "trainwire/lab/measure.h"
#include "trainwire/record/run_folder.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

/// One point: what it sets, and where it is kept.
struct SweepPoint {
  std::vector<std::string> settings = {};  ///< "network.loss=0.01"
  std::string folder;                      ///< "point-003", inside the sweep's
};

/// All combinations, the last axis fastest; each as often as run.repeats says, with a seed of its
/// own.
std::vector<SweepPoint> points_of(const spec::Experiment& experiment);

struct SweepRequest {
  const spec::Experiment& experiment;
  const std::vector<SweepPoint>& points;
  const std::vector<spec::Experiment>& experiments;  ///< of each point
  RunPlace place = {};
  bool again = false;  ///< runs points anew that are finished
  record::Maker provenance;
};

/// Everything in it may be empty; `run` is for each point that is run.
struct SweepObserver {
  Observer run = {};
  /// Before a point: its number, and how many were run now, not taken as finished.
  std::function<void(std::size_t point, std::size_t run_now)> begin = {};
  /// What a whole record of a point is to be judged by, run now or finished before.
  std::function<void(std::size_t point, record::Run&)> judge = {};
  std::function<void(std::size_t point, const std::string& why)> failed = {};
};

struct Swept {
  record::Run run = {};  ///< of the sweep, with those of its points that were reached
  bool interrupted = false;
  bool is_whole() const;  ///< all its points are
};

/// Whether a folder may be swept into: it is free, a sweep's, or a sweep began there. Throws
/// SystemError when it is a run's. REQUIRES: nothing.
void require_sweepable(const std::string& folder);

/// The sweep that is in the folder, when nothing of this one is missing there; judged anew.
std::optional<Swept> finished_sweep(const SweepRequest& request, const std::string& folder,
                                    const SweepObserver& observer);

/// Fills and finishes the folder. Throws Error.
Swept sweep(const SweepRequest& request, record::RunFolder& folder,
            const SweepObserver& observer = {});

}  // namespace tw::lab
