// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/random.h"
#include "trainwire/collective/strategies.h"

#include <fmt/format.h>

#include <memory>

namespace tw::collective {
namespace {

/// Whom each rank pulls from, and by whom each is asked: askers[first_asker[r] .. first_asker[r+1])
/// are those of rank r, in order. One draw per rank, made once: asking every other rank's stream
/// for each program would cost P^2 draws.
struct Choices {
  std::vector<int> peer;
  std::vector<int> first_asker;
  std::vector<int> askers;
};

int chosen_peer(const Arrangement& arrangement, int rank) {
  const int ranks = arrangement.layout.ranks();
  Random random(arrangement.seed,
                fmt::format("pair averaging, step {}, rank {}", arrangement.step, rank));
  const int drawn = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  return drawn == rank ? (rank + 1) % ranks : drawn;
}

Choices drawn(const Arrangement& arrangement) {
  const auto ranks = static_cast<std::size_t>(arrangement.layout.ranks());
  Choices choices{.peer = {},
                  .first_asker = std::vector<int>(ranks + 1, 0),
                  .askers = std::vector<int>(ranks, 0)};
  for (int rank = 0; rank < arrangement.layout.ranks(); ++rank) {
    choices.peer.push_back(chosen_peer(arrangement, rank));
    ++choices.first_asker[static_cast<std::size_t>(choices.peer.back()) + 1];
  }
  for (std::size_t i = 0; i < ranks; ++i) choices.first_asker[i + 1] += choices.first_asker[i];
  std::vector<int> next = choices.first_asker;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int slot = next[static_cast<std::size_t>(choices.peer[rank])]++;
    choices.askers[static_cast<std::size_t>(slot)] = static_cast<int>(rank);
  }
  return choices;
}

Program pair_averaging_program(const Choices& choices, int rank) {
  Program program;
  const auto append = [&](int from, int to) {
    program.push_back(
        {.round = 0, .from = from, .to = to, .chunk = 0, .combine = Combine::Average});
  };
  const auto at = static_cast<std::size_t>(rank);
  append(choices.peer[at], rank);
  for (int i = choices.first_asker[at]; i < choices.first_asker[at + 1]; ++i) {
    append(rank, choices.askers[static_cast<std::size_t>(i)]);
  }
  return program;
}

}  // namespace

Schedule pair_averaging(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  Schedule schedule{.strategy = "pair_averaging",
                    .goal = Goal::PairAverage,
                    .ranks = ranks,
                    .workers = ranks,
                    .chunks = 1,
                    .rounds = 1,
                    .depth = 1,
                    .program = {}};
  if (ranks == 1) {
    schedule.rounds = schedule.depth = 0;
    schedule.program = [](int) { return Program{}; };
    return schedule;
  }
  // Shared, because copies of a schedule need not copy what their programs only read.
  const auto choices = std::make_shared<const Choices>(drawn(arrangement));
  schedule.program = [choices](int rank) { return pair_averaging_program(*choices, rank); };
  return schedule;
}

double pair_averaging_share(int ranks, int from, int to) {
  if (from == to) return 0;
  return (from == (to + 1) % ranks ? 2.0 : 1.0) / ranks;
}

}  // namespace tw::collective
