// SPDX-License-Identifier: Apache-2.0
// A grid of runs: one folder each inside the sweep's, one table over all.
//
// A point that is finished is not run again: the same sweep goes on where it was interrupted. A
// point that fails, or that the machine refuses, does not end it; why stands beside the others'
// figures. Repetitions take turns (A B A B, not A A B B), so that what changes on the machine
// meanwhile changes all points alike.

#pragma once

#include "trainwire/lab/measure.h"
#include "trainwire/record/run_folder.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::lab {

/// One point: what it sets, and where it is kept.
struct SweepPoint {
  std::vector<std::string> settings = {};  ///< "network.loss=0.01"
  std::string folder;                      ///< "point-003", inside the sweep's
  std::size_t combination = 0;             ///< of the axes' values; repetitions share it
};

/// All combinations, the last axis fastest, axes that belong together as one; each as often as
/// run.repeats says, with a seed of its own. In the order in which they are run: the second
/// repetitions after all first ones.
std::vector<SweepPoint> points_of(const spec::Experiment& experiment);

/// Whether repetitions with these step times have the mean to within `share` of it, by its 95 %
/// interval. Never with fewer than three.
bool is_narrow(std::span<const double> steps_s, double share);

struct SweepRequest {
  const spec::Experiment& experiment;
  const std::vector<SweepPoint>& points;
  const std::vector<spec::Experiment>& experiments;  ///< of each point
  RunPlace place = {};
  bool again = false;  ///< runs points anew that are finished
  int retries = 0;     ///< of a point that fails, or a check of which fails; of finished ones too
  record::Maker provenance;
};

/// Everything in it may be empty; `run` is for each point that is run.
struct SweepObserver {
  Observer run = {};
  /// Before a point: its number, how many are behind, and how many of these were run now, not taken
  /// as finished.
  std::function<void(std::size_t point, std::size_t done, std::size_t run_now)> begin = {};
  /// What a whole record of a point is to be judged by, run now or finished before.
  std::function<void(std::size_t point, record::Run&)> judge = {};
  /// Each time that a point failed or is not to be relied on.
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

/// Whether a point is in the folder of the sweep, measured with these very settings.
bool is_finished(const std::string& folder, const SweepPoint& point,
                 const spec::Experiment& experiment);

/// The sweep that is in the folder, when nothing of this one is missing there; judged anew.
std::optional<Swept> finished_sweep(const SweepRequest& request, const std::string& folder,
                                    const SweepObserver& observer);

/// Fills and finishes the folder. Throws Error.
Swept sweep(const SweepRequest& request, record::RunFolder& folder,
            const SweepObserver& observer = {});

}  // namespace tw::lab
