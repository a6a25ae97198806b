// SPDX-License-Identifier: Apache-2.0
// What the steps of a job took, from when its ranks were in which phase: as tables, figures and a
// log for the analysis. Ranks of a run log those phases, simulated ones tell them.

#pragma once

#include "trainwire/imports/step_log.h"
#include "trainwire/record/phase.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::steps {

void write_steps(const std::vector<record::PhaseRow>& rows, const std::string& job,
                 record::RunFolder& folder);

/// Counted steps of the workers; nothing when none was finished.
std::optional<imports::StepLog> step_log(const std::vector<record::PhaseRow>& rows,
                                         const workload::Training& training);

/// When steps were counted.
struct CountedTime {
  std::int64_t begin_ns = 0;  ///< of the first counted step; 0 without any
  std::int64_t end_ns = 0;
};
CountedTime counted_time(const std::vector<record::PhaseRow>& rows,
                         const workload::Training& training);

/// Counted steps in short: means over the workers of what each step and its exchange took, in order,
/// and the median of each phase.
struct Summary {
  std::vector<double> step_s = {};
  std::vector<double> exchange_s = {};
  std::map<std::string, double> phases_median_s = {};
};

/// Of values in any order; the upper one of two in the middle. 0 without any.
double upper_median(std::vector<double> values);

/// Workers that took part in a step, where they were not all.
using Attendance = std::map<std::int64_t, std::size_t>;

/// What a job's counted steps took; `sent_bytes` by all its ranks in all steps.
record::Job described(const workload::Training& training, Summary summary, std::int64_t sent_bytes,
                      bool verified);
record::Job described(const workload::Training& training, const std::vector<record::PhaseRow>& rows,
                      std::int64_t sent_bytes, bool verified, const Attendance& attendance = {});

/// Iterations as a job's ranks tell them, where there are no packets.
record::Iterations logged_iterations(const record::Job& job);

}  // namespace tw::steps
