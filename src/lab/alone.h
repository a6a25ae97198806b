// SPDX-License-Identifier: Apache-2.0
// What each of several jobs would take without the others: the same experiment with one job at a
// time, cross traffic and all else as it is.

#pragma once

#include "trainwire/lab/place.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

struct AloneRuns {
  std::vector<std::optional<record::Times>> steps = {};  ///< by job
  bool interrupted = false;
};

/// In run folders of their own, alone-0 and so on inside `folder`. Throws Error, also when a rank
/// fails.
AloneRuns measure_alone(const spec::Experiment& experiment, const RunPlace& place,
                        const std::string& folder, const record::Maker& maker,
                        const Observer& observer);

/// What the jobs took alone beside what they took together.
void add_alone(record::Run& run, const AloneRuns& alone);

}  // namespace tw::lab
