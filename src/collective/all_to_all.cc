// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"

namespace tw::collective {
namespace {

/// What ranks i and j have for each other lies in chunk i+j of both, so that they exchange it in
/// place; chunk 2i of rank i is its own.
Program all_to_all_program(int ranks, int rank) {
  if (ranks == 1) return {};
  const int next = (rank + 1) % ranks;
  const Strand sent{.round = 0,
                    .from = rank,
                    .to = next,
                    .chunk = (rank + next) % ranks,
                    .combine = Combine::Replace,
                    .count = ranks - 1,
                    .to_stride = 1,
                    .chunk_stride = 1};
  Strand received = sent;
  received.from = next;
  received.to = rank;
  received.from_stride = 1;
  received.to_stride = 0;
  return {sent, received};
}

}  // namespace

Schedule all_to_all(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const std::int64_t rounds = ranks == 1 ? 0 : 1;
  return {.strategy = "all_to_all",
          .goal = Goal::AllToAll,
          .ranks = ranks,
          .workers = ranks,
          .chunks = ranks,
          .rounds = rounds,
          .depth = rounds,
          .program = [ranks](int rank) { return all_to_all_program(ranks, rank); }};
}

}  // namespace tw::collective
