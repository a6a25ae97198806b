// SPDX-License-Identifier: Apache-2.0
// A law of every all-reduce, and what to do when the steps found in a ring break it: nobody is done
// before everybody has begun, because every result holds a part of everybody.
//
// Rounds inside an all-reduce do not keep that law: one host may be done with a round before
// another begins it. Where a training loop hardly pauses, rounds are mistaken for steps. A ring of
// N hosts has 2(N-1) rounds, and the size of one shows in the bursts; as many rounds as that, taken
// together from the right one on, keep the law again.
//
// Limits: a ring with one rank on each host. An implementation that cuts each round in two looks
// like one with steps half as large.

#pragma once

#include "trainwire/flow/channel.h"
#include "trainwire/flow/exchange.h"
#include "trainwire/flow/tempo.h"

#include <optional>
#include <span>

namespace tw::flow {

/// Share of the steps in which some host had received everything before some host sent anything.
/// Only for strategies in which every host begins by itself (not below a tree's root).
double broken_share(const Exchanges& exchanges);

/// The steps of a ring of `hosts`, from beats that are parts of steps; nothing when they are whole
/// or no grouping keeps the law.
std::optional<Exchanges> ring_steps(const Tempo& tempo, std::span<const Channel> channels,
                                    int hosts);

}  // namespace tw::flow
