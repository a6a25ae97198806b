// SPDX-License-Identifier: Apache-2.0
// Faults, recoveries and checkpoints of a run, as its record has them.

#pragma once

#include "trainwire/lab/fault_player.h"
#include "trainwire/lab/training.h"
#include "trainwire/os/clock.h"
#include "trainwire/record/phase.h"
#include "trainwire/record/run.h"

#include <optional>
#include <vector>

namespace tw::lab {

/// When things were.
struct FaultTimes {
  std::vector<network::PlayedFault> faults = {};
  std::int64_t started_ns = 0;  ///< ranks were told to go; CLOCK_MONOTONIC
  os::Moment moment = {};       ///< any one of the run, which joins the two clocks
};

/// `phases` by job.
void add_faults(record::Run& run, const FaultTimes& times,
                const std::vector<std::vector<record::PhaseRow>>& phases);

/// Of one job.
void add_recoveries(record::Run& run, const FaultTimes& times, const TrainingJob& job,
                    const recover::JobTalk& talk, const std::vector<record::PhaseRow>& phases);

/// Nothing when none was asked for.
std::optional<record::Checkpoints> checkpoints_of(const TrainingJob& job,
                                                  const recover::JobTalk& talk);

}  // namespace tw::lab
