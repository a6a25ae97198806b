// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run logged, read back from their files.

#pragma once

#include "trainwire/lab/training.h"
#include "trainwire/record/phase.h"
#include "trainwire/record/run_folder.h"

#include <vector>

namespace tw::lab {

/// Of one job, by rank, in order. A line that a killed rank left unfinished is left out.
std::vector<record::PhaseRow> read_phases(const TrainingJob& job);

/// From the ranks' files into the table.
void write_sockets(const TrainingJob& job, record::RunFolder& into);
/// The same of what they moved, where they were told to write it down.
void write_transfers(const TrainingJob& job, record::RunFolder& into);
void remove_rank_files(const TrainingJob& job);

}  // namespace tw::lab
