// SPDX-License-Identifier: Apache-2.0
// What came of a run's cross traffic: what was asked for, what was delivered, and whether the wire
// agrees.

#pragma once

#include "trainwire/lab/cross_traffic.h"
#include "trainwire/network/plan.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/summarise/capture.h"
#include "trainwire/traffic/outcome.h"

#include <optional>
#include <vector>

namespace tw::lab {

struct TrafficResult {
  std::vector<CrossTraffic> entries = {};
  std::vector<std::optional<traffic::Outcome>> outcomes = {};  ///< by entry
};

/// How fast gradients went, by host names; empty without packets.
std::vector<record::GradientPair> gradient_pairs(const summarise::CaptureResult& result,
                                                 const network::NetPlan& plan,
                                                 const std::vector<CrossTraffic>& entries);

/// REQUIRES: there are entries.
record::CrossTraffic described(const TrafficResult& traffic,
                               std::vector<record::GradientPair> gradients);

/// What the wire shows lies between what was acknowledged and what was sent.
record::Check traffic_check(const TrafficResult& traffic, const summarise::CaptureResult& result);

/// From the sources' files into the table; the files are removed.
void take_flows(const TrafficResult& traffic, record::RunFolder& folder);

}  // namespace tw::lab
