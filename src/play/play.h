// SPDX-License-Identifier: Apache-2.0
// A training played in virtual time over connections that do not share anything: each message takes
// as long as its journey says, whatever else is on its way.
//
// The same training and journeys give the same rows, to the last one. Limits: as player.h; a
// network in which messages share links drives a Player itself.

#pragma once

#include "trainwire/play/player.h"

#include <functional>
#include <vector>

namespace tw::play {

struct Journey {
  Duration leaving = {};     ///< until its last byte has left, and the connection is free
  Duration travelling = {};  ///< from then until it is there
};
using Journeys = std::function<Journey(const Message&)>;

struct Played {
  std::vector<Moved> moved = {};  ///< in order of time
  std::vector<Step> steps = {};   ///< the same
  Duration end = {};
  std::int64_t events = 0;
};

/// Throws std::logic_error when ranks wait for each other forever: a schedule that does so is
/// wrong.
Played play(const workload::Training& training, const Journeys& journeys);

}  // namespace tw::play
