// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/halving_doubling.h"

#include "trainwire/collective/strategies.h"

#include <bit>

namespace tw::collective {
namespace {

std::int64_t rounds_of(const Core& core) { return 2 * core.steps + (core.extras > 0 ? 2 : 0); }

/// An extra folds its payload into its neighbour first and gets the result back last.
void append_fold(Program& program, const Core& core, int lower) {
  program.push_back({.round = 0,
                     .from = core.extra(lower),
                     .to = core.stands(lower),
                     .chunk = 0,
                     .combine = Combine::Sum,
                     .width = core.size});
  program.push_back({.round = rounds_of(core) - 1,
                     .from = core.stands(lower),
                     .to = core.extra(lower),
                     .chunk = 0,
                     .combine = Combine::Replace,
                     .width = core.size});
}

Program halving_doubling_program(const Core& core, int rank) {
  Program program;
  if (rank < 2 * core.extras) append_fold(program, core, rank - rank % 2);
  if (const auto place = place_in_core(core, rank)) {
    append_halving_doubling(program, core, rank, *place, core.extras > 0 ? 1 : 0);
  }
  return program;
}

}  // namespace

Core core_of(int ranks, Standing standing) {
  const int size = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  return {.size = size,
          .extras = ranks - size,
          .steps = std::countr_zero(static_cast<unsigned>(size)),
          .standing = standing};
}

std::optional<int> place_in_core(const Core& core, int rank) {
  if (rank >= 2 * core.extras) return rank - core.extras;
  return rank == core.stands(rank - rank % 2) ? std::optional(rank / 2) : std::nullopt;
}

int rank_in_core(const Core& core, int place) {
  return place < core.extras ? core.stands(2 * place) : place + core.extras;
}

/// Step s pairs places that differ in bit s. On the way in they split the range of chunks that both
/// still hold, the lower place keeping the lower half; on the way out, in reverse order, they give
/// each other what they kept. Near partners first, so that neighbours on one host exchange the big
/// halves (recursive vector halving and distance doubling).
void append_halving_doubling(Program& program, const Core& core, int rank, int place,
                             std::int64_t first_round) {
  int begin = 0;
  for (int step = 0; step < core.steps; ++step) {
    const int half = core.size >> (step + 1);
    const bool keeps_upper = ((place >> step) & 1) == 1;
    const int kept = keeps_upper ? begin + half : begin;
    const int given = keeps_upper ? begin : begin + half;
    const int partner = rank_in_core(core, place ^ (1 << step));
    const auto append = [&](std::int64_t round, int chunk, Combine combine, bool sends) {
      program.push_back({.round = round,
                         .from = sends ? rank : partner,
                         .to = sends ? partner : rank,
                         .chunk = chunk,
                         .combine = combine,
                         .width = half});
    };
    const std::int64_t in = first_round + step;
    const std::int64_t out = first_round + 2 * core.steps - 1 - step;
    append(in, given, Combine::Sum, true);
    append(in, kept, Combine::Sum, false);
    append(out, kept, Combine::Replace, true);
    append(out, given, Combine::Replace, false);
    begin = kept;
  }
}

Schedule halving_doubling(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const Core core = core_of(ranks, Standing::Odd);
  return {.strategy = "halving_doubling",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = core.size,
          .rounds = rounds_of(core),
          .depth = rounds_of(core),
          .program = [core](int rank) { return halving_doubling_program(core, rank); }};
}

}  // namespace tw::collective
