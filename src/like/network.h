// SPDX-License-Identifier: Apache-2.0
// What a run showed of its network: rates of links that were full, round trips, what was sent again.
//
// An emulated network gives what was asked for, or the run's own check says otherwise; so these are
// told, and the experiment keeps what was asked for.
//
// Limits: counters leave out headers of frames and of segments that travel as one, up to a twentieth.
// A queue that was there for a moment makes no full link: one that never came near its rate is not
// told of.

#pragma once

#include "trainwire/like/like.h"

#include <string>

namespace tw::like {

/// Adds constants from the record, and from samples.csv and sockets.csv where they are there.
/// Throws SystemError when a table is there and cannot be read.
void tell_network(Fitted& fitted, const record::Run& run, const std::string& folder);

}  // namespace tw::like
