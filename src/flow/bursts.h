// SPDX-License-Identifier: Apache-2.0
// Bursts put in order, and joined to coarser ones.

#pragma once

#include "trainwire/flow/flow.h"

#include <cstdint>
#include <vector>

namespace tw::flow {

/// By start, those that start together as they are. Cheap for what consists of few sorted parts, as
/// the bursts of several flows one after the other do: O(bursts) for each doubling of the parts.
void sort_by_start(std::vector<Burst>& bursts);
/// Appends `burst`, or joins it to the last one when the pause between them is at most `gap_ns`.
/// True when appended.
bool append_burst(std::vector<Burst>& bursts, const Burst& burst, std::int64_t gap_ns);
/// Joins bursts whose pause is at most `gap_ns`.
void join_bursts(std::vector<Burst>& bursts, std::int64_t gap_ns);

}  // namespace tw::flow
