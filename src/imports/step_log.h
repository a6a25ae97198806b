// SPDX-License-Identifier: Apache-2.0
// A program's own record of its steps, in the shapes that frameworks and studies write it.
//
// Understood, by content: CSV with rank,step,start,end (seconds or nanoseconds since the epoch,
// header names decide, `_ns` and `_s` suffixes too); the TUM study's `Type,ID,Timestamp,Loss,Accuracy` with Batch and
// Epoch rows; text lines with a time stamp and "iteration"/"step"/"batch" and a number, as Horovod
// and KungFu examples print; of torch_xla also with the time of day alone, in whole seconds.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw::imports {

struct LoggedStep {
  int rank;
  std::int64_t step;
  std::int64_t start_ns;
  std::int64_t end_ns;
  /// No line tells how long it was itself: it shares what passed between two lines with the steps before it, or is a first step
  /// without a start, as long as others.
  bool is_shared = false;
  bool operator==(const LoggedStep&) const = default;
};

/// What a run of ours made of its ranks' logs, without warm-up.
inline constexpr const char* kOwnFormat = "run";

/// Of lines that tell the time of day and not the date: times count from the midnight before the first.
inline constexpr const char* kTimeOfDay = "time_of_day";

/// At least one step; ranks and steps are not negative, 0 <= start <= end, each rank's steps are
/// told once and rise, with numbers that start again (a new epoch) counted on. Steps of a rank may
/// touch but should not overlap: stamps of whole seconds with shorter steps need care.
struct StepLog {
  std::string format;              ///< "csv", "tum", "text", kTimeOfDay, or kOwnFormat
  std::vector<LoggedStep> steps;   ///< by rank, then step
  std::uint64_t skipped = 0;       ///< rows of a CSV that tell no step; fewer than those that do
  std::string first_skipped = {};  ///< "line 22: ..." of the first of them
};

/// Single rows of a CSV that are cut off, have times that are none, end before they start or take no
/// time are skipped. Throws DataError naming `name`, the line and what was expected; also when no step is found.
StepLog parse_step_log(std::string_view text, std::string_view name);

}  // namespace tw::imports
