// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run logged: read back from their files, as tables, figures and a log for the
// analysis.

#pragma once

#include "trainwire/imports/step_log.h"
#include "trainwire/lab/training.h"
#include "trainwire/record/phase.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

/// Of one job, by rank, in order. A line that a killed rank left unfinished is left out.
std::vector<record::PhaseRow> read_phases(const TrainingJob& job);

void write_steps(const std::vector<record::PhaseRow>& rows, const std::string& job,
                 record::RunFolder& folder);
/// From the ranks' files into the table.
void write_sockets(const TrainingJob& job, record::RunFolder& into);
/// The same of what they moved, where they were told to write it down.
void write_transfers(const TrainingJob& job, record::RunFolder& into);
void remove_rank_files(const TrainingJob& job);

/// Counted steps of the workers; nothing when none was finished.
std::optional<imports::StepLog> step_log(const std::vector<record::PhaseRow>& rows,
                                         const TrainingJob& job);

/// When steps were counted.
struct CountedTime {
  std::int64_t begin_ns = 0;  ///< of the first counted step; 0 without any
  std::int64_t end_ns = 0;
};
CountedTime counted_time(const std::vector<record::PhaseRow>& rows, const TrainingJob& job);

/// What a job's counted steps took; `sent_bytes` by all its ranks in all steps.
record::Job described(const TrainingJob& job, const std::vector<record::PhaseRow>& rows,
                      std::int64_t sent_bytes);

}  // namespace tw::lab
