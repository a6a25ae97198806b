// SPDX-License-Identifier: Apache-2.0
// What the tables of an analysed capture show of the network: the rate at which each host sends and
// receives when it does, and how long acknowledgements take.
//
// Rates are over 10 ms, and weighted by bytes: a quarter of a side's bytes travel at its highest
// rate or above, half at its usual one. Pauses lower neither, nor do single bursts raise them. A side
// whose mean is nearly its usual rate never rests.
//
// Limits: these are what was used, not what the link could do. A round trip is timed where packets were
// captured; in the middle of a path that is part of it.

#pragma once

#include "trainwire/stats/estimate.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tw::like {

struct SideRates {
  double highest_bps = 0;
  double usual_bps = 0;
  double mean_bps = 0;  ///< from the first to the last byte of any
};
/// By host's name and whether it sends.
using Sides = std::map<std::pair<std::string, bool>, SideRates>;

/// Those of little traffic are left out. From windows.csv; empty without it. Throws SystemError when the table is there and cannot be read.
Sides side_rates(const std::string& folder);

/// Median over gradient flows of the shortest round trip that each saw, from flows.csv.
std::optional<stats::Estimate> shortest_round_trip_s(const std::string& folder);

}  // namespace tw::like
