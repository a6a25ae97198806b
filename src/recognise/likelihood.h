// SPDX-License-Identifier: Apache-2.0
// One score for everything that the exchange of a step could be, and what follows from it: which
// explanation is taken, how sure that is, and which is the next.
//
// A score is in nats: the natural logarithm of how much likelier the packets are if the explanation
// is true than if nobody knows anything (pairs carry any bytes, in any order). It is the sum of
//
//   bytes   of each pair that should carry some: the difference from what the schedule says, with
//           an exponential law of the scale of framing, against any amount up to the largest pair
//   laws    of each observation (a host's step, a lane's beat): whether that happens which the
//           strategy demands or excludes
//   ways    in how many ways as many pairs could be joined, over in how many the strategy could
//           lie over these hosts: what can be laid in many ways fits by luck (the model's size)
//   prior   what is common, before any packet
//
// Explanations that fit are offered; the posterior over them, and over the unknown, is how far one
// is believed.
//
// Limits: terms are taken as independent of one another, which they are not; what the posterior is
// worth is therefore measured, and mapped (diagnose/confidence.h).

#pragma once

#include "trainwire/recognise/pattern.h"
#include "trainwire/recognise/recognise.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tw::recognise {

struct Assumptions {
  /// Of the largest pair: what a pair's bytes differ from its schedule's by. Libraries add headers,
  /// ranks talk aside, and a step may be cut a packet too early.
  double framing = 0.01;
  /// Chance that an observation shows the opposite: clocks are off, a burst hides a pause, a beat
  /// is counted in the step beside.
  double mistaken = 0.1;
  /// Observations that count: those of one capture err alike, so more of them tell no more.
  double independent = 8;
  /// Of rings, that each host holds one rank, where nothing shows more.
  double one_rank = 0.9;
  /// Of rings, that their payload is sent in two to six pieces, one after the other.
  double pieces = 0.1;
  /// Of hosts that are joined by several connections of equal bytes, that these are of one rank:
  /// libraries stripe, but few do it so evenly.
  double stripes = 0.25;
  /// Of two hosts, that they are called a ring: all strategies look alike there.
  double ring_of_two = 0.6;
  /// Of all-to-all against a clique of gradients, where nothing shows which.
  double all_to_all = 0.2;
  /// Of trees whose half that leads to the root does not begin first (buckets follow one another up
  /// and down, or steps are cut elsewhere), that they are two trees, of a reduction and a broadcast.
  double untimed = 0.3;
  /// That sizes come in threes by chance, in buckets of all-reduces; and that a ring is sharded
  /// training although they do not show: layers of one size, or no pauses between them.
  double threes = 0.1;
  /// That exchanges which repeat are no training: where one host is in all of them; where nothing
  /// but the repetition speaks for it, or answers come before all have asked; and else.
  double service = 0.2;
  double any_kind = 0.4;
  double by_chance = 0.02;
  /// Of what is no training, that it begins when somebody wishes, or by a clock whatever happens;
  /// the rest sleeps as long after each answer, as if it computed.
  double by_demand = 0.35;
  double by_clock = 0.15;
  /// And that hosts which send to several keep no order among these.
  double in_any_order = 0.35;
  /// Bytes that each host sends in a step of a job, at least, of all but so few.
  double smallest_step = 10'000;
  double small_steps = 0.05;
};
inline constexpr Assumptions kAssumed;

/// How far pairs may be off before they speak against a strategy: there the two laws of `bytes`
/// meet, at 4 % of the largest.
double widest_difference();

/// Of the pairs that carry bytes and differ by so much, all together, in parts of the largest one;
/// and of these being joined, where the strategy could lie in so many ways (as a logarithm).
double pairs_off(const Pattern& pattern, double off, double ways);
/// The same where all of them should carry the same.
double even_pairs(const Pattern& pattern, double ways);

/// What `share` of some observations tells for a law over its opposite, where `even` of them would
/// tell nothing.
double law(double share, double even, std::size_t observations);

/// Of n things: in how many orders.
double orders(int n);

/// Takes so much of the belief in what was found away for a rival, which becomes the runner-up where
/// it is likelier than the one that is known.
void yield_to(Recognition& found, const RunnerUp& rival);

/// The best of those offered, with its fit and its runner-up; nothing when none is better than the
/// unknown.
std::optional<Recognition> best_of(std::vector<Recognition> offered);

}  // namespace tw::recognise
