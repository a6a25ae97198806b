// SPDX-License-Identifier: Apache-2.0
// steps.csv as a timeline of ranks and as the median time of each phase.

#pragma once

#include "trainwire/report/limits.h"
#include "trainwire/result/table_reader.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tw::report {

/// One phase of one rank in one step; steps before 0 are warm-up.
struct PhaseTime {
  std::string job;
  std::int64_t rank;
  std::int64_t step;
  std::string phase;
  std::int64_t start_ns;
  std::int64_t end_ns;
};

std::vector<PhaseTime> read_phases(result::TableReader& steps);

/// {"rows": [{"job", "rank"}], "phases": [names], "median_s": row by phase, null where there is
/// none, "late_s": [[median, 95th percentile, longest]] of the time from the first rank's start of
/// a step to this row's, null where it has no measured step, "timeline": {"from_step", "to_step",
/// "steps", "left_off_rows", "row", "phase", "start_us", "length_us"}}. The timeline shows the
/// first measured steps, as many as `limits` allows but one at least. REQUIRES: times not empty.
nlohmann::ordered_json phases_document(const std::vector<PhaseTime>& times, std::int64_t origin_ns,
                                       const Limits& limits);

}  // namespace tw::report
