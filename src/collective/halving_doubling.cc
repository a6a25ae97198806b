// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/core.h"
#include "trainwire/collective/strategies.h"

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
