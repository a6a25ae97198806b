// SPDX-License-Identifier: Apache-2.0
// Slices put on as few tracks as their overlaps allow: two slices of a track are one inside the
// other or apart, as viewers of traces demand.

#pragma once

#include "trainwire/timeline/timeline.h"

#include <functional>
#include <vector>

namespace tw::timeline {

/// Each lane is in the order of beginning, outer slices first. The first lane has what began first.
/// REQUIRES: no slice ends before it starts.
std::vector<std::vector<Slice>> lanes_of(std::vector<Slice> slices);

/// Calls `begin` and `end` for the slices of a lane in the order of time, inner ends first.
void walk(const std::vector<Slice>& lane, const std::function<void(const Slice&)>& begin,
          const std::function<void(const Slice&)>& end);

}  // namespace tw::timeline
