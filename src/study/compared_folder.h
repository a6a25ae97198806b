// SPDX-License-Identifier: Apache-2.0
// A run folder as it is compared: the times of its steps and exchanges, its bytes on the wire,
// its experiment. A sweep has these for each of its points.

#pragma once

#include "trainwire/record/account.h"
#include "trainwire/record/learning.h"
#include "trainwire/record/value.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tw::study {

/// One job; a folder of `analyze` has one without a name.
struct ComparedJob {
  std::string name;
  std::vector<double> step_times_s;
  std::vector<double> exchange_times_s = {};   ///< empty when the run did not log them
  std::optional<double> busbw_bps = {};        ///< at the median exchange time
  std::optional<double> step_sent_bytes = {};  ///< by all ranks in one step
  std::optional<record::Accounting> accounting = {};
  std::optional<record::Learning> learning = {};  ///< where ranks really trained
};

struct ComparedRun {
  std::vector<std::string> settings = {};  ///< of a sweep's point, "job.batch=64"
  std::vector<ComparedJob> jobs;
  std::optional<double> wire_bytes = {};  ///< of all pairs; nothing when nothing was captured
  std::optional<record::Value> experiment = {};  ///< resolved; nothing when the run had none
};

struct ComparedFolder {
  std::string path;
  std::string command;            ///< that made it: run, analyze...
  bool sweep = false;             ///< then each run is a point
  std::vector<ComparedRun> runs;  ///< one unless it is a sweep
  /// Why its figures are not to be relied on: a sentence for each check that failed.
  std::vector<std::string> doubts = {};
};

/// Throws SystemError when there is no run, DataError when it is not whole, has no times of steps,
/// or fewer than two steps.
ComparedFolder read_compared(const std::string& path);

}  // namespace tw::study
