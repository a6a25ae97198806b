// SPDX-License-Identifier: Apache-2.0
// What the tables of an analysed capture show of the network: the rate at which each host sends and
// receives when it does, and how long acknowledgements take.
//
// The rate of a side is that at or above which half of its bytes travel, over 10 ms: pauses do not
// lower it, nor do single bursts raise it.
//
// Limits: it is what was used, not what the link could do. A round trip is timed where packets were
// captured; in the middle of a path that is part of it.

#pragma once

#include "trainwire/stats/estimate.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tw::like {

/// By host's name and whether it sends; sides of little traffic are left out. From windows.csv; empty
/// without it. Throws SystemError when the table is there and cannot be read.
std::map<std::pair<std::string, bool>, double> side_rates_bps(const std::string& folder);

/// Median over gradient flows of the shortest round trip that each saw, from flows.csv.
std::optional<stats::Estimate> shortest_round_trip_s(const std::string& folder);

}  // namespace tw::like
