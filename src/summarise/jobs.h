// SPDX-License-Identifier: Apache-2.0
// Several jobs in one capture, where it is known, or was found, which flow belongs to which: each is
// analysed as if the others were cross traffic.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/imports/step_log.h"
#include "trainwire/summarise/capture.h"

#include <optional>
#include <span>
#include <string>

namespace tw::summarise {

struct KnownJob {
  std::string name = {};
  std::optional<imports::StepLog> log = {};  ///< its steps
};

/// Sets the analyses of result.traffic; flows of nobody count for every job. The options' log is
/// not used. REQUIRES: !jobs.empty(); Flow::job numbers `jobs`.
void analyse_jobs(CaptureResult& result, std::span<const KnownJob> jobs,
                  diagnose::AnalysisOptions options);

/// The same for jobs that nobody has named: analyses result.traffic, and where several jobs are
/// found in it, each alone, as "job 1" (that explains most bytes), "job 2", ...
void analyse_found_jobs(CaptureResult& result, const diagnose::AnalysisOptions& options);

}  // namespace tw::summarise
