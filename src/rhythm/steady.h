// SPDX-License-Identifier: Apache-2.0
// Traffic that flows while everybody else is silent: a copy, a video, a test of the network's
// speed.
//
// In synchronous training everybody pauses together, at least while all compute. Who never pauses
// for a fraction of that time takes no part in the exchange, but fits every tempo, because any
// number of its small pieces is as long as any step.
//
// Limits: behind a slow link a lane of the exchange may never pause either. So these channels are
// only left out where nothing is recognised with them.

#pragma once

#include "trainwire/rhythm/channel.h"

#include <optional>
#include <span>
#include <vector>

namespace tw::rhythm {

/// The channels that pause as most of them do; nothing when that is all of them.
std::optional<std::vector<Channel>> without_steady(std::span<const Channel> channels);

}  // namespace tw::rhythm
