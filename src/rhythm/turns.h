// SPDX-License-Identifier: Apache-2.0
// Whether channels take turns. A pace of two steps has longer pauses than one of a single step wherever
// a host is fast and slow in turn, as TCP makes it where what is sent hardly fills the link. But who
// waits for a step goes on when everybody does; who takes turns, when others are between theirs.

#pragma once

#include "trainwire/rhythm/pace.h"

namespace tw::rhythm {

/// In how many pairs of channels one goes on after the longer of the two pauses in a beat when the other
/// is between its own; those with much longer ones count most. 0 where beats have no halves.
double turn_share(const Pace& pace);

}  // namespace tw::rhythm
