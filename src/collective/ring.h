// SPDX-License-Identifier: Apache-2.0
// The ring as a part of other strategies: an all-reduce among members that need not be neighbours.

#pragma once

#include "trainwire/collective/schedule.h"

#include <cstdint>

namespace tw::collective {

/// One member's view of a ring of `size` members: its position and the ranks on both sides.
struct RingPlace {
  int position;
  int size;
  int before;
  int rank;
  int after;
};

/// Appends the member's 4 strands (none when it is alone): rounds [first_round,
/// first_round + 2(size-1)). REQUIRES: the schedule has `size` chunks.
void append_ring(Program& program, const RingPlace& place, std::int64_t first_round);

}  // namespace tw::collective
