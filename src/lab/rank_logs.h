// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run logged, read back from their files.

#pragma once

#include "trainwire/lab/training.h"
#include "trainwire/record/phase.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/steps/figures.h"

#include <span>
#include <string>
#include <vector>

namespace tw::lab {

/// What is left of a job whose tasks were given out one after another.
struct JobPhases {
  std::vector<record::PhaseRow> rows = {};  ///< by identity, in order
  steps::Attendance attendance = {};
};

/// A line that a killed rank left unfinished is left out, and so is every step that was done again
/// when the job went back, or that its group did not finish.
JobPhases read_phases(std::span<const trainer::Task> given);

/// From the ranks' files into the table.
void write_sockets(const std::string& job, std::span<const trainer::Task> given,
                   record::RunFolder& into);
/// The same of what they moved, where they were told to write it down.
void write_transfers(const std::string& job, std::span<const trainer::Task> given,
                     record::RunFolder& into);
void remove_rank_files(std::span<const trainer::Task> given);
/// Those in the run's own folder, of a job that needs them no more.
void remove_checkpoints(const TrainingJob& job, const std::string& folder);

}  // namespace tw::lab
