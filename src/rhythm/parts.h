// SPDX-License-Identifier: Apache-2.0
// Parts of the connections between some hosts, each of which may be a job of its own: those that keep
// one pace, or carry the same, or send the same in every step of one of them.
//
// A pace is a mean, which two jobs may have in common; their steps are not. What a connection sends
// from one step of its own job to the next is always the same, and from one step of another job to
// the next it is not, however alike their paces are. So a connection that pauses clearly is a clock
// for all of its job, those included that never pause for long.

#pragma once

#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/tempo.h"

#include <cstdint>
#include <vector>

namespace tw::rhythm {

using Channels = std::vector<Channel>;

inline constexpr double kSamePeriod =
    0.015;  ///< what repeats at one pace on the same hosts is one job

/// A connection and the pace that it keeps by itself.
struct Paced {
  OwnPace pace;
  const Channel* channel;
};

/// Those of a group that keep any, the fastest first; without the spacing of slow links.
std::vector<Paced> paced_of(const Channels& channels, std::int64_t gap_ns);

/// Connections that keep one pace.
struct Part {
  double pace_ns = 0;
  Channels channels = {};
};

/// Parts of a group, the fastest first, where the whole time of two of their connections may differ by so many steps.
std::vector<Part> parts_by_pace(const std::vector<Paced>& paced, double steps);

/// The same with those that keep the pace of halves or thirds of a slower part's steps in that: some connections of a
/// job pause there for longer than others.
std::vector<Part> with_whole_steps(std::vector<Part> parts);

/// Parts of a group by what their connections carry, none of which is above the first of its part by more
/// than `slack` of that: where jobs keep nearly one pace.
std::vector<Part> parts_by_bytes(Channels channels, double slack);

/// Connections of `channels` that send the same in each step of one of `paced`, the fastest first; before these all
/// that are in no such part, at no pace.
std::vector<Part> parts_by_steps(const Channels& channels, const std::vector<Paced>& paced);

}  // namespace tw::rhythm
