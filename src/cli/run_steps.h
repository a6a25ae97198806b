// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run logged: read back from their files, as tables, figures and a log for the
// analysis.

#pragma once

#include "trainwire/imports/step_log.h"
#include "trainwire/lab/training.h"
#include "trainwire/result/run_folder.h"
#include "trainwire/stats/estimate.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// A line of trainer/step_log.h.
struct PhaseRow {
  int rank = 0;
  std::int64_t step = 0;
  std::string phase;
  int bucket = -1;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t bytes = 0;
  std::int64_t queued = 0;
};

/// Of one job, by rank, in order. A line that a killed rank left unfinished is left out.
std::vector<PhaseRow> read_phases(const std::string& folder, const lab::TrainingJob& job);

void write_steps(const std::vector<PhaseRow>& rows, const std::string& job,
                 result::RunFolder& folder);
/// From the ranks' files into the table.
void write_sockets(const std::string& folder, const lab::TrainingJob& job, result::RunFolder& into);
/// The same of what they moved, where they were told to write it down.
void write_transfers(const lab::TrainingJob& job, result::RunFolder& into);
void remove_rank_files(const std::string& folder, const lab::TrainingJob& job);

/// Counted steps of the workers; nothing when none was finished.
std::optional<imports::StepLog> step_log(const std::vector<PhaseRow>& rows,
                                         const lab::TrainingJob& job);

/// What a job's counted steps took.
struct StepFigures {
  std::size_t steps = 0;                           ///< finished by every worker
  std::vector<double> step_times_s = {};           ///< mean over the workers, in order
  std::vector<double> exchange_times_s = {};       ///< the same
  std::optional<stats::Estimate> step_s = {};      ///< median
  std::optional<stats::Estimate> exchange_s = {};  ///< first to last byte of a step's exchange
  std::map<std::string, double> phases_s = {};     ///< median of each phase, per step and worker
  double busbw_bps = 0;                            ///< as nccl-tests: of an all-reduce
  std::int64_t begin_ns = 0;                       ///< of the first counted step
  std::int64_t end_ns = 0;
};
StepFigures step_figures(const std::vector<PhaseRow>& rows, const lab::TrainingJob& job);

}  // namespace tw::cli
