// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/ring.h"
#include "trainwire/collective/strategies.h"

#include <algorithm>
#include <memory>

namespace tw::collective {
namespace {

/// The ranks of each host that holds any: the master first, hosts in the order of their masters.
struct Groups {
  std::vector<std::vector<int>> members;
  /// Index into `members` for each rank.
  std::vector<int> group_of;
  bool any_local;
};

Groups grouped_by_host(const Layout& layout) {
  Groups groups{.members = {}, .group_of = {}, .any_local = false};
  std::vector<int> group_of_host(static_cast<std::size_t>(layout.hosts), -1);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    int& group = group_of_host[static_cast<std::size_t>(layout.host(rank))];
    if (group < 0) {
      group = static_cast<int>(groups.members.size());
      groups.members.emplace_back();
    } else {
      groups.any_local = true;
    }
    groups.members[static_cast<std::size_t>(group)].push_back(rank);
    groups.group_of.push_back(group);
  }
  return groups;
}

/// Of the H chunks, chunk c starts its 2(H-1) hops at group c and ends them at group c-2. Only when
/// both hold local ranks is there a chain with a local transfer at each end.
std::int64_t longest_chain(const Groups& groups) {
  const std::size_t size = groups.members.size();
  const std::int64_t hops = 2 * (static_cast<std::int64_t>(size) - 1);
  if (!groups.any_local) return hops;
  for (std::size_t start = 0; start < size; ++start) {
    const std::size_t end = (start + 2 * size - 2) % size;
    if (groups.members[start].size() > 1 && groups.members[end].size() > 1) return hops + 2;
  }
  return hops + 1;
}

/// The whole payload up to the master in round 0 and down again in the last round.
void append_local(Program& program, int local, int master, int chunks, std::int64_t last_round) {
  program.push_back({.round = 0,
                     .from = local,
                     .to = master,
                     .chunk = 0,
                     .combine = Combine::Sum,
                     .width = chunks});
  program.push_back({.round = last_round,
                     .from = master,
                     .to = local,
                     .chunk = 0,
                     .combine = Combine::Replace,
                     .width = chunks});
}

Program hierarchical_program(const Groups& groups, int rank, std::int64_t last_round) {
  const int size = static_cast<int>(groups.members.size());
  const int group = groups.group_of[static_cast<std::size_t>(rank)];
  const auto& members = groups.members[static_cast<std::size_t>(group)];
  const auto master_of = [&](int g) {
    return groups.members[static_cast<std::size_t>(g % size)].front();
  };
  Program program;
  if (rank != members.front()) {
    append_local(program, rank, members.front(), size, last_round);
    return program;
  }
  for (std::size_t i = 1; i < members.size(); ++i) {
    append_local(program, members[i], rank, size, last_round);
  }
  append_ring(program,
              {.position = group,
               .size = size,
               .before = master_of(group + size - 1),
               .rank = rank,
               .after = master_of(group + 1)},
              groups.any_local ? 1 : 0);
  return program;
}

}  // namespace

Schedule hierarchical(const Arrangement& arrangement) {
  // Shared, because copies of a schedule need not copy what their programs only read.
  const auto groups = std::make_shared<const Groups>(grouped_by_host(arrangement.layout));
  const int size = static_cast<int>(groups->members.size());
  const std::int64_t rounds = 2 * (std::int64_t{size} - 1) + (groups->any_local ? 2 : 0);
  return {.strategy = "hierarchical",
          .goal = Goal::AllReduce,
          .ranks = arrangement.layout.ranks(),
          .workers = arrangement.layout.ranks(),
          .chunks = size,
          .rounds = rounds,
          .depth = longest_chain(*groups),
          .program = [groups, rounds](int rank) {
            return hierarchical_program(*groups, rank, rounds - 1);
          }};
}

}  // namespace tw::collective
