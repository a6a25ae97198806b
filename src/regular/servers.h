// SPDX-License-Identifier: Apache-2.0
// Parameter servers in step with many workers, in closed form: workers that begin an exchange at the
// same time over ports of the same rates are a *class*, whose messages to a server have equal shares
// and end at the same time. So there is one flow for a class and a server, not one for each worker.
//
// Shares are those of ranks' own ports. That these are the network's is proved whenever a share
// changes: with all of them no port between has more than it carries, so everybody has a full port
// on its way on which nobody has more, which is what max-min means (fluid/sharing.h).
//
// Times are those of a simulation message by message, but for rounding, as in at_once.h.
//
// Limits: one job; a rank to a host; few classes at a time; what asks_for_more() of rings.h lists.

#pragma once

#include "trainwire/regular/answer.h"

#include <string>

namespace tw::regular {

/// Whether the training's exchanges are with servers that wait for all workers.
bool has_servers_in_step(const workload::Training& training);

/// REQUIRES: has_servers_in_step().
Outcome answer_for_servers(const workload::Training& training, const Physics& physics);

}  // namespace tw::regular
