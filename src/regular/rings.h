// SPDX-License-Identifier: Apache-2.0
// Trainings that exchange gradients around a ring of ranks, or of hosts with local ranks behind
// their first one, in closed form: when every rank begins and ends every step and its exchange.
//
// What the players of play/player.h do message by message over connections that keep their rates
// (lines.h) is computed here rank by rank: compute until buckets are filled, exchanges one after
// another, each as long as its circle takes (circle.h). Times are theirs, to the nanosecond.
//
// Steps are repeated as long as ranks begin them in the same order at the same distances, which is
// so after a few steps when compute times do not vary: then one is as long as the last.
//
// Limits: one connection between two ranks, no side connections, no first model that is brought to
// the ranks while others already train: asks_for_more() says so.

#pragma once

#include "trainwire/regular/lines.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tw::regular {

/// By rank; from the simulation's begin. A rank that exchanges nothing has no exchange: its end is
/// before its begin.
struct StepTimes {
  std::vector<Duration> begin = {};
  std::vector<Duration> end = {};
  std::vector<Duration> exchange_begin = {};
  std::vector<Duration> exchange_end = {};
};

/// All its times are later by `shift`.
struct RingStep {
  std::int64_t step = 0;  ///< warm-up is negative
  std::shared_ptr<const StepTimes> times = {};
  Duration shift = {};
};

struct RingTimes {
  std::vector<RingStep> steps = {};
  Duration end = {};  ///< of the last message or step
};

/// What no answer but a simulation by players has of a training, whatever its exchanges are; empty:
/// nothing.
std::string asks_beyond_exchanges(const workload::Training& training);

/// Why a training is not computed here; empty when it is.
std::string asks_for_more(const workload::Training& training);

/// Who sends to whom around the ring, in order; nobody where fewer than two take part.
struct RingHop {
  int from = 0;  ///< rank
  int to = 0;
};
std::vector<RingHop> hops_of(const workload::Training& training);
/// Local ranks and the first of their host, which exchange every bucket whole; none in a plain ring.
std::vector<RingHop> local_pairs(const workload::Training& training);

/// What a hop moves in one exchange of a bucket, and in how many messages that are not empty.
struct HopVolume {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};
HopVolume volume_of(std::int64_t elements, int places, int place);

/// REQUIRES: asks_for_more() is empty; connections as hops_of() has them.
RingTimes ring_times(const workload::Training& training, const Physics& physics,
                     const std::vector<Steady>& connections);

}  // namespace tw::regular
