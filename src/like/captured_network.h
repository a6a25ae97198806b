// SPDX-License-Identifier: Apache-2.0
// What the tables of an analysed capture show: the rate at which each host sends and receives when it
// does, how long acknowledgements take, and for how long a host is silent between two exchanges.
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

/// For how long hosts are silent from the last byte that they receive of a step to the first that
/// they send of the next: the median of the host with the shortest one, of those that are silent for
/// `least_s` at all (servers and roots answer at once). Others may wait for more than their own
/// computing. From iteration_pairs.csv.
std::optional<stats::Estimate> shortest_silence_s(const std::string& folder, double least_s);

}  // namespace tw::like
