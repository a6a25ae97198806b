// SPDX-License-Identifier: Apache-2.0
// One run in the list of runs: its record, in short. What is not in the record is null.

#pragma once

#include "trainwire/record/live.h"
#include "trainwire/record/run_file.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <vector>

namespace tw::serve {

inline constexpr std::size_t kSparklinePoints = 60;

/// {"command", "name", "started", "jobs", "hosts", "points", "step_mean_s", "steps", "duration_s",
/// "checks", "sparkline", "sparkline_of"}. `described` has the experiment: the run itself, or the
/// first point of a sweep.
nlohmann::ordered_json run_entry(const record::RunFile& file, const record::Run& described);

/// Adds to an entry of a run that is not finished what it has told so far.
void add_live(nlohmann::ordered_json& entry, const record::LiveLines& told);

/// At most `most` values: neighbours by their mean.
std::vector<double> shortened(std::span<const double> values, std::size_t most);

}  // namespace tw::serve
