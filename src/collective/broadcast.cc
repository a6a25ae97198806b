// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"

#include <bit>

namespace tw::collective {
namespace {

int width_in_bits(int value) { return std::bit_width(static_cast<unsigned>(value)); }

/// The far half is served first: a rank gets the payload from the rank that lacks its lowest set
/// bit, and passes it on over the distances below that bit. Neighbours, which often share a host,
/// come last.
Program broadcast_program(int ranks, int rank) {
  const int rounds = width_in_bits(ranks - 1);
  const int lowest = rank > 0 ? std::countr_zero(static_cast<unsigned>(rank)) : rounds;
  Program program;
  const auto append = [&](int bit, int from, int to) {
    program.push_back({.round = rounds - 1 - bit,
                       .from = from,
                       .to = to,
                       .chunk = 0,
                       .combine = Combine::Replace});
  };
  if (rank > 0) append(lowest, rank - (1 << lowest), rank);
  for (int bit = lowest - 1; bit >= 0; --bit) {
    if (rank + (1 << bit) < ranks) append(bit, rank, rank + (1 << bit));
  }
  return program;
}

}  // namespace

Schedule broadcast(const Layout& layout) {
  const int ranks = layout.ranks();
  return {.strategy = "broadcast",
          .goal = Goal::Broadcast,
          .ranks = ranks,
          .workers = ranks,
          .chunks = 1,
          .rounds = width_in_bits(ranks - 1),
          .depth = width_in_bits(ranks) - 1,
          .program = [ranks](int rank) { return broadcast_program(ranks, rank); }};
}

Schedule broadcast(const Arrangement& arrangement) { return broadcast(arrangement.layout); }

}  // namespace tw::collective
