// SPDX-License-Identifier: Apache-2.0
// The checks that only a run of our own ranks allows: its schedule, its ranks and the wire count
// the same bytes, and the sums are right.

#pragma once

#include "trainwire/cli/exec_checks.h"
#include "trainwire/lab/rank_talk.h"
#include "trainwire/lab/training.h"

#include <vector>

namespace tw::cli {

/// To be added to exec_checks. The wire is compared only where `result` has packets.
std::vector<RunCheck> run_checks(const std::vector<lab::TrainingJob>& jobs,
                                 const std::vector<lab::RankState>& ranks,
                                 const CaptureResult& result);

}  // namespace tw::cli
