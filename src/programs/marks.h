// SPDX-License-Identifier: Apache-2.0
// What ranks of somebody's program say of their own steps: a line "rank,step,start,end" for each in
// the file that TRAINWIRE_MARKS names.

#pragma once

#include "trainwire/imports/step_log.h"
#include "trainwire/lab/launch.h"
#include "trainwire/record/run.h"

#include <cstddef>
#include <optional>
#include <span>

namespace tw::programs {

/// Marks that the ranks of a job left, as one log; nothing when there are none. Throws DataError for
/// files that are no marks.
std::optional<imports::StepLog> read_marks(const lab::LaunchRequest& job);

/// Adds what the ranks of a job say to those of others.
void add_marked(const lab::LaunchRequest& job, const std::optional<imports::StepLog>& marks,
                record::MarkedSteps& steps);

}  // namespace tw::programs
