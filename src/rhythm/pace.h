// SPDX-License-Identifier: Apache-2.0
// Paces: channels whose fits (rhythm.h) agree in time, and which of several paces is that of the
// steps.
//
// Of the paces that explain the traffic about equally well, the fastest is taken (two steps are no
// step), but a multiple of it when the pauses there are longer than those in between more often
// than chance allows (rounds and buckets are no steps either).
//
// Long pauses are no accident either after every epoch, checkpoint or validation. So a pace is kept
// when its beats are whole collectives of their own: then many of them are no step.
//
// A pace must suit all channels that send the same. Behind a slow link everybody else waits in
// every round of a collective, and rounds look like steps; the link itself is busy throughout and
// pauses only between steps, if at all. So a channel's pauses count the more the busier it is, and
// a slower pace is taken when one more of the channels pauses at it.

#pragma once

#include "trainwire/rhythm/rhythm.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tw::rhythm {

/// The next best explanation of the same traffic: this many times as many steps, each with that
/// part of the bytes.
struct Alternative {
  double steps;
  double probability;        ///< at most a half
  bool are_buckets = false;  ///< the steps found are whole collectives: several might make a step
};

struct Candidate {
  std::size_t channel;  ///< number among the streams
  RhythmFit fit;
};

struct Pace {
  double period_ns;
  std::vector<Candidate> candidates;  ///< at most one of each channel
  double share = 0;                   ///< of the bytes of all channels that lie in their beats
  std::optional<Alternative> alternative = {};
  /// All that at least three channels ever send is in beats of one and the same size, each after a pause that is seen, and it is no multiple of
  /// a faster one: few beats are a pattern then, also without longer pauses.
  bool is_exact = false;

  /// REQUIRES: there are candidates.
  double median_ns() const;
  /// The same of their whole time, and of their typical time.
  double whole_ns() const;
  double typical_ns() const;
};

bool same_pace(double a_ns, double b_ns);
/// The fewer beats, the less is known about their pace.
bool same_pace(const RhythmFit& fit, double period_ns);

/// Coverage decides between two distances at one pace; of near equals, the longer pauses.
double merit(const RhythmFit& fit);

struct Distance {
  double bytes;
  double popularity;  ///< share of the pace's channels that have it
};
/// Distances of a pace: a few, none two nearly equal.
std::vector<Distance> distances_of(const Pace& pace);

/// How the pauses at the ends of beats compare with those inside, in the clearer channels: others
/// may pause longer inside a step, while they wait for somebody.
struct Prominence {
  double ratio = 0;
  double dominance = 0;
  std::size_t compared = 0;
  double likeness = 0;   ///< of the places of pauses inside beats; of the clearer channels
  double constancy = 0;  ///< share of the beats that pause at such a place
};
Prominence prominence(const Pace& pace);
/// Whether these pauses stand out.
bool is_prominent(const Pace& pace);

/// Whether beats of the pace are whole collectives, although every `times`-th is followed by a
/// longer pause than the others.
using AreWhole = std::function<bool(const Pace& pace, double times)>;

inline constexpr double kLeastLikeness = 0.75;  ///< beats that are alike inside are no accident

/// The pace of the steps, one of `paces`, with its alternative; nothing when there are none. Sorts
/// them by period, and leaves those that could be it as well.
std::optional<Pace> choose(std::vector<Pace>& paces, const AreWhole& are_whole);

}  // namespace tw::rhythm
