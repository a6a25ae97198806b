// SPDX-License-Identifier: Apache-2.0
// What came of cross traffic, as records tell it: rates as frames on the link.

#pragma once

#include "trainwire/load/entry.h"
#include "trainwire/load/outcome.h"
#include "trainwire/record/cross_traffic.h"

#include <optional>
#include <vector>

namespace tw::usage {

/// Without an outcome the entry was silent or cut off.
record::TrafficEntry described(const load::Entry& entry,
                               const std::optional<load::Outcome>& outcome);

/// All of them together; the capacity is the least one. REQUIRES: there are entries.
record::CrossTraffic described(std::vector<record::TrafficEntry> entries,
                               std::vector<record::GradientPair> gradients);

}  // namespace tw::usage
