// SPDX-License-Identifier: Apache-2.0
// One run in the list of runs: what run.json says, in short. Everything in it may be missing or of
// another type than expected; it is null then.

#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <vector>

namespace tw::serve {

inline constexpr std::size_t kSparklinePoints = 60;

/// {"command", "name", "started", "jobs", "hosts", "points", "step_mean_s", "steps", "duration_s",
/// "checks", "sparkline", "sparkline_of"} of a run.json. `experiment` is that of the run, or of
/// the first point of a sweep; null when there is none.
nlohmann::ordered_json run_entry(const nlohmann::ordered_json& document,
                                 const nlohmann::ordered_json& experiment);

/// Adds to an entry of a run that is not finished what it has told so far.
void add_live(nlohmann::ordered_json& entry, const nlohmann::ordered_json& header,
              const nlohmann::ordered_json& samples);

/// At most `most` values: neighbours by their mean.
std::vector<double> shortened(std::span<const double> values, std::size_t most);

}  // namespace tw::serve
