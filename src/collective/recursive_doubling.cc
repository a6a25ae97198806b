// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/halving_doubling.h"
#include "trainwire/collective/strategies.h"

namespace tw::collective {
namespace {

std::int64_t rounds_of(const Core& core) { return core.steps + (core.extras > 0 ? 2 : 0); }

/// A chain through every step ends at the place with all bits other than where it began: it has a
/// fold at both ends only where both stand for an extra, which takes more than half of the places.
std::int64_t longest_chain(const Core& core) {
  if (core.extras == 0) return core.steps;
  return core.steps + (2 * core.extras > core.size ? 2 : 1);
}

void append(Program& program, std::int64_t round, int from, int to, Combine combine) {
  program.push_back({.round = round, .from = from, .to = to, .chunk = 0, .combine = combine});
}

Program recursive_doubling_program(const Core& core, int rank) {
  Program program;
  if (rank < 2 * core.extras) {
    const int lower = rank - rank % 2;
    append(program, 0, core.extra(lower), core.stands(lower), Combine::Sum);
    append(program, rounds_of(core) - 1, core.stands(lower), core.extra(lower), Combine::Replace);
  }
  const auto place = place_in_core(core, rank);
  if (!place) return program;
  // Partners exchange everything that they hold, each adding the other's.
  for (int step = 0; step < core.steps; ++step) {
    const int partner = rank_in_core(core, *place ^ (1 << step));
    const std::int64_t round = (core.extras > 0 ? 1 : 0) + step;
    append(program, round, rank, partner, Combine::Sum);
    append(program, round, partner, rank, Combine::Sum);
  }
  return program;
}

}  // namespace

Schedule recursive_doubling(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const Core core = core_of(ranks, Standing::Odd);
  return {.strategy = "recursive_doubling",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = 1,
          .rounds = rounds_of(core),
          .depth = longest_chain(core),
          .program = [core](int rank) { return recursive_doubling_program(core, rank); }};
}

}  // namespace tw::collective
