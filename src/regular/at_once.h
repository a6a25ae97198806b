// SPDX-License-Identifier: Apache-2.0
// Jobs message by message where connections have found their rates: a message is a flow that has its
// share of the ports on its way at once (fluid/sharing.h), and nothing else is kept of it. So many
// messages take a microsecond or two each, and those of 100,000 ranks fit into memory.
//
// It is what the players of play/player.h do over a network of fluids, for trainings that pass on
// whole transfers. Times are theirs, but for rounding: the same shares are summed up in another
// order, and a time that falls between two nanoseconds may be either's.
//
// Limits: as asks_for_players() and tasks.h say; schedules that are the same in every step.

#pragma once

#include "trainwire/regular/answer.h"

#include <functional>
#include <string>
#include <vector>

namespace tw::regular {

/// Why a training is not played here; empty when it is.
std::string asks_for_players(const workload::Training& training);

/// `goes_on` is asked now and then with what time it is; where it says no there is no answer, nor a
/// reason.
Outcome answer_at_once(const std::vector<const workload::Training*>& jobs, const Physics& physics,
                       const std::function<bool(Duration now)>& goes_on = {});

}  // namespace tw::regular
