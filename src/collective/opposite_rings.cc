// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/ring.h"
#include "trainwire/collective/strategies.h"

namespace tw::collective {
namespace {

/// Even chunks go round one way and odd ones the other: halves differ by at most one element for
/// each rank, and the rings never touch the same copy.
Program opposite_rings_program(int ranks, int rank) {
  const int next = (rank + 1) % ranks;
  const int last = (rank + ranks - 1) % ranks;
  Program program;
  append_ring(program,
              {.position = rank, .size = ranks, .before = last, .rank = rank, .after = next}, 0,
              {.first = 0, .stride = 2});
  append_ring(program,
              {.position = (ranks - rank) % ranks,
               .size = ranks,
               .before = next,
               .rank = rank,
               .after = last},
              0, {.first = 1, .stride = 2});
  return program;
}

}  // namespace

Schedule opposite_rings(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const std::int64_t rounds = 2 * (std::int64_t{ranks} - 1);
  return {.strategy = "opposite_rings",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = 2 * ranks,
          .rounds = rounds,
          .depth = rounds,
          .program = [ranks](int rank) { return opposite_rings_program(ranks, rank); }};
}

}  // namespace tw::collective
