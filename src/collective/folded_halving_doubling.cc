// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/halving_doubling.h"
#include "trainwire/collective/strategies.h"

namespace tw::collective {
namespace {

constexpr std::int64_t kFoldRounds = 2;

std::int64_t rounds_of(const Core& core) {
  return 2 * core.steps + (core.extras > 0 ? kFoldRounds + 1 : 0);
}

/// Both of a pair add a half: the lower one stands in the core, gets the extra's lower half and
/// gives away its own upper one, which comes back added. The extra gets the result last.
void append_fold(Program& program, const Core& core, int lower) {
  const int stands = core.stands(lower);
  const int extra = core.extra(lower);
  const int half = core.size / 2;
  const auto append = [&](std::int64_t round, int from, int to, int chunk, Combine combine) {
    program.push_back({.round = round,
                       .from = from,
                       .to = to,
                       .chunk = chunk,
                       .combine = combine,
                       .width = half});
  };
  append(0, extra, stands, 0, Combine::Sum);
  append(0, stands, extra, half, Combine::Sum);
  append(1, extra, stands, half, Combine::Replace);
  program.push_back({.round = rounds_of(core) - 1,
                     .from = stands,
                     .to = extra,
                     .chunk = 0,
                     .combine = Combine::Replace,
                     .width = core.size});
}

Program folded_program(const Core& core, int rank) {
  Program program;
  if (rank < 2 * core.extras) append_fold(program, core, rank - rank % 2);
  if (const auto place = place_in_core(core, rank)) {
    append_halving_doubling(program, core, rank, *place, core.extras > 0 ? kFoldRounds : 0);
  }
  return program;
}

}  // namespace

Schedule folded_halving_doubling(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const Core core = core_of(ranks, Standing::Even);
  return {.strategy = "folded_halving_doubling",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = core.size,
          .rounds = rounds_of(core),
          .depth = rounds_of(core),
          .program = [core](int rank) { return folded_program(core, rank); }};
}

}  // namespace tw::collective
