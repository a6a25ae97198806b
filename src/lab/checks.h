// SPDX-License-Identifier: Apache-2.0
// Two independent counts of the same thing, and whether they agree: what makes a run believable.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/lab/rank_talk.h"
#include "trainwire/lab/training.h"
#include "trainwire/record/run.h"
#include "trainwire/summarise/capture.h"

#include <vector>

namespace tw::lab {

/// Of any program's ranks on a network.
std::vector<record::Check> conduct_checks(const ConductOutcome& outcome,
                                          const ConductRequest& request,
                                          const summarise::CaptureResult& result);

/// What only our own ranks allow: schedule, ranks and wire count the same bytes, and the sums are
/// right. The wire is compared only where `result` has packets.
/// A rank that was lost told nothing of what it sent: then only sums are judged.
enum class Recovered { No, Yes };
std::vector<record::Check> training_checks(const std::vector<TrainingJob>& jobs,
                                           const std::vector<RankState>& ranks,
                                           const summarise::CaptureResult& result,
                                           Recovered recovered = Recovered::No);

}  // namespace tw::lab
