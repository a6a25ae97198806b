// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/ring.h"
#include "trainwire/collective/strategies.h"

#include <bit>

namespace tw::collective {
namespace {

int bits_of(int value) { return std::bit_width(static_cast<unsigned>(value)); }

/// Rank r now holds the sum of chunk r-1, which rank 0 gets; its own is the last.
void append_gather(Program& program, int ranks, int rank) {
  Strand gather{.round = ranks - 1,
                .from = 1,
                .to = 0,
                .chunk = 0,
                .combine = Combine::Replace,
                .count = ranks - 1,
                .from_stride = 1,
                .chunk_stride = 1};
  if (rank > 0) {
    gather.from = rank;
    gather.chunk = rank - 1;
    gather.count = 1;
    gather.from_stride = gather.chunk_stride = 0;
  }
  program.push_back(gather);
}

/// In its round b, the first 2^b ranks pass everything on to those 2^b further: rank r gets it from
/// the rank that lacks its highest bit.
void append_broadcast(Program& program, int ranks, int rank) {
  const auto append = [&](int bit, int from, int to) {
    program.push_back({.round = ranks + bit,
                       .from = from,
                       .to = to,
                       .chunk = 0,
                       .combine = Combine::Replace,
                       .width = ranks});
  };
  const int bits = bits_of(rank);
  if (rank > 0) append(bits - 1, rank - (1 << (bits - 1)), rank);
  for (int bit = bits; bit < bits_of(ranks - 1); ++bit) {
    if (rank + (1 << bit) < ranks) append(bit, rank, rank + (1 << bit));
  }
}

Program reduce_broadcast_program(int ranks, int rank) {
  if (ranks == 1) return {};
  Program program;
  // A ring in which each member sends to the rank before it.
  append_scatter(program,
                 {.position = (ranks - rank) % ranks,
                  .size = ranks,
                  .before = (rank + 1) % ranks,
                  .rank = rank,
                  .after = (rank + ranks - 1) % ranks},
                 0, {.first = 0, .stride = -1});
  append_gather(program, ranks, rank);
  append_broadcast(program, ranks, rank);
  return program;
}

}  // namespace

Schedule reduce_broadcast(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const bool alone = ranks == 1;
  return {.strategy = "reduce_broadcast",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = ranks,
          .rounds = alone ? 0 : std::int64_t{ranks} + bits_of(ranks - 1),
          .depth = alone ? 0 : std::int64_t{ranks} + bits_of(ranks) - 1,
          .program = [ranks](int rank) { return reduce_broadcast_program(ranks, rank); }};
}

}  // namespace tw::collective
