// SPDX-License-Identifier: Apache-2.0
// A law of every all-reduce, and what to do when the steps found in a ring break it: nobody is done
// before everybody has begun, because every result holds a part of everybody.
//
// Rounds inside an all-reduce do not keep that law: one host may be done with a round before
// another begins it. Where a training loop hardly pauses, rounds are mistaken for steps. A ring of
// N hosts has 2(N-1) rounds, and the size of one shows in the bursts; as many rounds as that, taken
// together from the right one on, keep the law again.
//
// The converse: after a whole all-reduce every host computes before it sends again. That rest is
// longer than any silence in which data is only on its way, as between the rounds of an all-reduce.
// Beats that keep the law, with such a rest of everybody before most of them, are whole.
//
// Limits: who sends on while it computes has no rest; then nothing is called whole. Steps are
// grouped only in a ring with one rank on each host. An implementation that cuts each round in two
// looks like one with steps half as large.

#pragma once

#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"
#include "trainwire/rhythm/tempo.h"

#include <optional>
#include <span>

namespace tw::rhythm {

/// Share of the steps in which some host had received everything before some host sent anything.
/// Only for strategies in which every host begins by itself (not below a tree's root).
double broken_share(const Steps& exchanges);

/// The same between different hosts: share of the steps in which some host had received everything
/// before another sent anything. Near 0 for every all-reduce, trees and servers included: a root
/// sends when it has received everything, but nobody else is done by then.
double early_share(const Steps& exchanges);

/// Share of the lanes' bytes in bursts that overlap with no burst of another lane, from where it is
/// sent to where it has come: nearly all where something is handed from host to host, one link at a
/// time; few in a ring, all links of which are busy in each round.
double alone_share(const Steps& exchanges, std::span<const Channel> channels);

/// Whether everybody rests before each of `count` beats in turn, for as long before one as before another, and for much longer than
/// anything pauses inside or is under way: who rests so computes, which rounds of one step leave no time for. Needs a round trip.
bool rest_alike(const Steps& beats, std::span<const Channel> channels, std::size_t count);

/// The steps of a ring of `hosts`, from beats that are parts of steps; nothing when they are whole (all
/// compute between them) or no grouping keeps the law. Where one of two hosts always answers the other, as a server does,
/// there is no all-reduce to keep it: an exchange is a step.
std::optional<Steps> ring_steps(const Tempo& tempo, std::span<const Channel> channels, int hosts);

/// Whether the steps are whole collectives, although every `times`-th is followed by a longer pause
/// than the others: the law holds, and the silences in between stand out too.
/// REQUIRES: times > 1.
bool are_whole(const Steps& exchanges, std::span<const Channel> channels, double times);

}  // namespace tw::rhythm
