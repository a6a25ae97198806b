// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"

#include <bit>

namespace tw::collective {
namespace {

int width_in_bits(int value) { return std::bit_width(static_cast<unsigned>(value)); }

/// In round k the ranks below 2^k hold the payload and each sends it 2^k ranks further.
Program broadcast_program(int ranks, int rank) {
  Program program;
  const auto append = [&](int round, int from, int to) {
    program.push_back(
        {.round = round, .from = from, .to = to, .chunk = 0, .combine = Combine::Replace});
  };
  const int first_sending = width_in_bits(rank);
  if (rank > 0) append(first_sending - 1, rank - (1 << (first_sending - 1)), rank);
  for (int round = first_sending; round < width_in_bits(ranks - 1); ++round) {
    if (rank + (1 << round) < ranks) append(round, rank, rank + (1 << round));
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

}  // namespace tw::collective
