// SPDX-License-Identifier: Apache-2.0
// Rounds or steps: how many of the smallest repetitions in a ring make one training step.
//
// Behind a slow link everybody waits in every round, and rounds look like steps. Two things tell
// them apart. A ring of N hosts makes 2(N-1) rounds, each of which some libraries cut into up to
// four; a step is that many, or a divisor where several pass without a pause. And rounds of a step
// are not alike: at its beginning hosts next to the slow link send several rounds at once, and the
// slow link itself pauses only while its host computes. So the pauses after every round repeat with
// the step:
//
//   rounds   | | | | | | | | | | | | |     a ring of 4 behind a slow link: 6 rounds a step
//   pauses   9 0 4 4 4 4 9 0 4 4 4 4 9
//
// For each number of rounds S the pauses of each sender are explained by what is typical at their
// place in the step: by one mean for all (nothing repeats), by one more for the place that differs
// most, by one for every place, or by those of a part of the step and one more. The Bayesian
// information criterion (Schwarz 1978, 10.1214/aos/1176344136) weighs how well that fits against
// how many means it takes.
//
// Limits: one rank on each host. Differences of the criterion of a few units mean nothing.

#pragma once

#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tw::rhythm {

/// The criterion for steps of `rounds` in the pauses of one sender (logarithms of their lengths),
/// less that for pauses which do not repeat at all: negative when steps explain them better.
/// `parts` are smaller numbers of rounds that divide it. REQUIRES: pauses.size() >= rounds > 1.
double repetition_criterion(std::span<const double> pauses, std::size_t rounds,
                            std::span<const std::size_t> parts);

struct RingRounds {
  double bytes = 0;        ///< of a step, for each sender
  double beats = 1;        ///< of those given, in a step
  double other_beats = 1;  ///< the same for the next best explanation
  double lead =
      0;  ///< by how much the criterion prefers the best to the next best, if there is one
};

/// What the beats of a ring's exchanges are. Where nothing speaks for another number, one beat is a
/// step. Costs some 100 fits for each of at most 32 senders.
RingRounds ring_rounds(const Steps& ring, std::span<const Channel> channels, std::int64_t gap_ns);

}  // namespace tw::rhythm
