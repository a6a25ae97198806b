// SPDX-License-Identifier: Apache-2.0
// The points of a grid of runs, in the order in which they are conducted, and which of them are
// still needed.
//
// Repetitions take turns (A B A B, not A A B B), so that what changes on a machine meanwhile changes
// all points alike.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::sweep {

/// One point to come: what it sets, and where it is kept.
struct Planned {
  std::vector<std::string> settings = {};  ///< "network.loss=0.01"
  std::string folder;                      ///< "point-003", inside the sweep's
  std::size_t combination = 0;             ///< of the axes' values; repetitions share it
  int repetition = 0;
};

/// All combinations, the last axis fastest, axes that belong together as one; each as often as
/// run.repeats says, with a seed of its own. In the order in which they are conducted: the second
/// repetitions after all first ones.
std::vector<Planned> points_of(const spec::Experiment& experiment);

/// Whether repetitions with these step times have the mean to within `share` of it, by its 95 %
/// interval. Never with fewer than three.
bool is_narrow(std::span<const double> steps_s, double share);

/// Which repetitions are still to be conducted: all, or until the step is known well enough.
class Repetitions {
 public:
  explicit Repetitions(const spec::Run& run) : until_(*run.repeat_until) {}

  /// Depends on earlier repetitions alone.
  bool needs(const Planned& point) const;
  /// Only what may be relied on counts.
  void take(const Planned& point, const record::Point& found);

 private:
  std::optional<double> until_;
  std::map<std::size_t, std::vector<double>> steps_s_ = {};
};

}  // namespace tw::sweep
