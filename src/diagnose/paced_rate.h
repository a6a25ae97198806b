// SPDX-License-Identifier: Apache-2.0
// The rate of a slow link, from how it spaces what passes it.
//
// Behind a link that is always loaded, every acknowledgement sets free a few segments, and the next
// few follow when those have passed: a train of b bytes, then a pause, until b / rate is over. Many
// trains give the same rate, to a percent, however often the sender is short of data or of
// processor time in between, which lowers every mean.
//
// Limits: above some 150 Mbit/s pauses are shorter than the gap that separates bursts, and there is
// nothing to see.

#pragma once

#include "trainwire/flow/flow.h"

#include <optional>
#include <span>

namespace tw::diagnose {

/// The rate in bit/s that the most bytes have within 6 %, if these are at least a twelfth of all.
/// `bursts` by start, in bytes of frames.
std::optional<double> paced_rate_bps(std::span<const flow::Burst> bursts);

}  // namespace tw::diagnose
