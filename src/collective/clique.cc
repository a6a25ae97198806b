// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"

namespace tw::collective {
namespace {

/// Four strands that each visit all other ranks, starting with the next one. "Foreign" strands
/// concern the peer's chunk, "own" ones the chunk rooted here.
Program clique_program(int ranks, int rank) {
  if (ranks == 1) return {};
  const int next = (rank + 1) % ranks;
  const Strand reduce_foreign{.round = 0,
                              .from = rank,
                              .to = next,
                              .chunk = next,
                              .combine = Combine::Sum,
                              .count = ranks - 1,
                              .to_stride = 1,
                              .chunk_stride = 1};
  const Strand reduce_own{.round = 0,
                          .from = next,
                          .to = rank,
                          .chunk = rank,
                          .combine = Combine::Sum,
                          .count = ranks - 1,
                          .from_stride = 1};
  Strand return_own = reduce_foreign;
  return_own.round = 1;
  return_own.chunk = rank;
  return_own.combine = Combine::Replace;
  return_own.chunk_stride = 0;
  Strand return_foreign = reduce_own;
  return_foreign.round = 1;
  return_foreign.chunk = next;
  return_foreign.combine = Combine::Replace;
  return_foreign.chunk_stride = 1;
  return {reduce_foreign, reduce_own, return_own, return_foreign};
}

}  // namespace

Schedule clique(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const std::int64_t rounds = ranks == 1 ? 0 : 2;
  return {.strategy = "clique",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = ranks,
          .rounds = rounds,
          .depth = rounds,
          .program = [ranks](int rank) { return clique_program(ranks, rank); }};
}

}  // namespace tw::collective
