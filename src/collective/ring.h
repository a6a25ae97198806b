// SPDX-License-Identifier: Apache-2.0
// The ring as a part of other strategies: an all-reduce, or its first half, among members that need
// not be neighbours.

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

/// Which chunks travel round a ring: number k of `size` is chunk first + k * stride, modulo the
/// chunks of the schedule.
struct RingChunks {
  int first = 0;
  int stride = 1;
};

/// Appends the member's 4 strands (none when it is alone): rounds [first_round,
/// first_round + 2(size-1)). REQUIRES: the schedule has size * |stride| chunks.
void append_ring(Program& program, const RingPlace& place, std::int64_t first_round,
                 RingChunks chunks = {});

/// The reduce-scatter alone: the first 2 of these strands, size-1 rounds. Position p then holds the
/// whole sum of number p+1.
void append_scatter(Program& program, const RingPlace& place, std::int64_t first_round,
                    RingChunks chunks = {});

}  // namespace tw::collective
