// SPDX-License-Identifier: Apache-2.0
// Beats that begin where steps begin, for senders that sent something else first.
//
// Before training the model goes from one rank to the others, partly on connections that later
// carry gradients. Such a sender has more bytes than the others, its steps do not begin at a
// multiple of a step from the beginning, and where nobody pauses long between steps, its beats may
// be off. They then break a law of synchronous training: nobody sends anything of a step before it
// has received everything of the one before. When it has, is when the next step may begin.
//
// Limits: rings, where a host receives on one lane.

#pragma once

#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"
#include "trainwire/rhythm/tempo.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tw::rhythm {

/// The tempo of `ring` with such beats moved; nothing when there are none.
std::optional<Tempo> with_start_phases(const Tempo& tempo, const Steps& ring,
                                       std::span<const Channel> channels, std::int64_t gap_ns);

}  // namespace tw::rhythm
