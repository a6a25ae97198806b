// SPDX-License-Identifier: Apache-2.0
// What an earlier start of a sweep has left, so that it goes on where it was interrupted.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/sweep/points.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::sweep {

/// The record of a point that was finished in this folder with these very settings. What is
/// expected of it, what else is swept over and how often do not change it.
std::optional<record::Run> finished(const std::string& folder, const spec::Experiment& experiment);

/// Whether a point is finished in the folder of the sweep.
bool is_finished(const std::string& folder, const Planned& point,
                 const spec::Experiment& experiment);

/// Whether a folder may be swept into: it is free, a sweep's, or a sweep began there. Throws
/// SystemError when it is a run's. REQUIRES: nothing.
void require_sweepable(const std::string& folder);

/// Points that have no folders of their own: the sweep's record alone has them. They count where the
/// very same command line of the same program has made them of the same files.
class Recorded {
 public:
  /// Of what is in the folder now; nothing where that is not such a sweep.
  Recorded(const std::string& folder, const record::Maker& maker);

  /// The finished point of these settings.
  const record::Point* find(const std::vector<std::string>& settings) const;

 private:
  std::map<std::vector<std::string>, record::Point> points_;
};

}  // namespace tw::sweep
