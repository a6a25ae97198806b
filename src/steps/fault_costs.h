// SPDX-License-Identifier: Apache-2.0
// What faults cost a job's steps, and when steps were as usual again.

#pragma once

#include "trainwire/record/phase.h"
#include "trainwire/record/run.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::steps {

/// From when to when, on the clock of the rows.
struct FaultSpan {
  std::optional<std::int64_t> begin_ns = {};  ///< nothing: it never was
  std::optional<std::int64_t> end_ns = {};    ///< nothing: to the end
};

/// A counted step, over all ranks.
struct StepSpan {
  std::int64_t step = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double time_s() const { return 1e-9 * static_cast<double>(end_ns - begin_ns); }
};
/// In order of steps.
std::vector<StepSpan> step_spans(const std::vector<record::PhaseRow>& rows);

/// Of each fault. What is usual are the steps that no fault touched, or all when there are none.
std::vector<record::FaultCost> fault_costs(const std::string& job, std::span<const StepSpan> steps,
                                           std::span<const FaultSpan> faults);

/// When a step began, at or after `from_ns`, that took no longer than those before it usually did
/// (within a fifth); nothing when none did, or none was before.
std::optional<std::int64_t> usual_again(std::span<const StepSpan> steps, std::int64_t from_ns);

}  // namespace tw::steps
