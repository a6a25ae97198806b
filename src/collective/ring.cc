// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/ring.h"

#include "trainwire/collective/strategies.h"

#include <cstdlib>

namespace tw::collective {
namespace {

/// One trip of size-1 hops: `rank` sends first number `number`, then the one before it, and so on,
/// while the member before it sends the same numbers minus one.
void append_trip(Program& program, const RingPlace& place, Strand trip, int number,
                 RingChunks chunks) {
  const int all = place.size * std::abs(chunks.stride);
  const auto chunk_of = [&](int k) {
    return (chunks.first + (k % place.size) * chunks.stride + all) % all;
  };
  trip.count = place.size - 1;
  trip.round_stride = 1;
  trip.chunk_stride = -chunks.stride;
  trip.from = place.rank;
  trip.to = place.after;
  trip.chunk = chunk_of(number);
  program.push_back(trip);
  trip.from = place.before;
  trip.to = place.rank;
  trip.chunk = chunk_of(number + place.size - 1);
  program.push_back(trip);
}

Strand begun(std::int64_t round, Combine combine) {
  return {.round = round, .from = 0, .to = 0, .chunk = 0, .combine = combine};
}

}  // namespace

void append_scatter(Program& program, const RingPlace& place, std::int64_t first_round,
                    RingChunks chunks) {
  if (place.size == 1) return;
  append_trip(program, place, begun(first_round, Combine::Sum), place.position, chunks);
}

void append_ring(Program& program, const RingPlace& place, std::int64_t first_round,
                 RingChunks chunks) {
  if (place.size == 1) return;
  append_scatter(program, place, first_round, chunks);
  // The sum that each position holds travels around once more.
  append_trip(program, place, begun(first_round + place.size - 1, Combine::Replace),
              place.position + 1, chunks);
}

Schedule ring(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const std::int64_t rounds = 2 * (std::int64_t{ranks} - 1);
  return {.strategy = "ring",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = ranks,
          .rounds = rounds,
          .depth = rounds,
          .program = [ranks](int rank) {
            Program program;
            append_ring(program,
                        {.position = rank,
                         .size = ranks,
                         .before = (rank + ranks - 1) % ranks,
                         .rank = rank,
                         .after = (rank + 1) % ranks},
                        0);
            return program;
          }};
}

}  // namespace tw::collective
