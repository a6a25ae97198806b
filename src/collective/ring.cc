// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/ring.h"

#include "trainwire/collective/strategies.h"

namespace tw::collective {
namespace {

/// One trip of size-1 hops: `rank` sends first `chunk`, then the chunk before it, and so on, while
/// the member before it sends the same numbers minus one.
void append_trip(Program& program, const RingPlace& place, const Strand& trip) {
  Strand sent = trip;
  sent.from = place.rank;
  sent.to = place.after;
  program.push_back(sent);
  Strand received = trip;
  received.from = place.before;
  received.to = place.rank;
  received.chunk = (trip.chunk + place.size - 1) % place.size;
  program.push_back(received);
}

}  // namespace

void append_ring(Program& program, const RingPlace& place, std::int64_t first_round) {
  if (place.size == 1) return;
  const Strand scatter{.round = first_round,
                       .from = 0,
                       .to = 0,
                       .chunk = place.position,
                       .combine = Combine::Sum,
                       .count = place.size - 1,
                       .round_stride = 1,
                       .chunk_stride = -1};
  append_trip(program, place, scatter);
  // Position p now holds the whole sum of chunk p+1, which travels around once more.
  Strand gather = scatter;
  gather.round = first_round + place.size - 1;
  gather.chunk = (place.position + 1) % place.size;
  gather.combine = Combine::Replace;
  append_trip(program, place, gather);
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
