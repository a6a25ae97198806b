// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recover/regroup.h"

#include "trainwire/base/error.h"

#include <algorithm>

namespace tw::recover {
namespace {

/// The group whose rank 0 is the first worker there from `first` on, going round.
Group made(const workload::Training& whole, const std::vector<bool>& there, int first) {
  Group group{.training = whole};
  const int workers = whole.workers();
  for (int i = 0; i < workers; ++i) {
    const int identity = (first + i) % workers;
    if (there[static_cast<std::size_t>(identity)]) group.members.push_back(identity);
  }
  const auto at_work = group.members.size();
  for (int identity = workers; identity < whole.ranks(); ++identity) {
    if (there[static_cast<std::size_t>(identity)]) group.members.push_back(identity);
  }
  collective::Arrangement& arrangement = group.training.arrangement;
  if (whole.row().has_servers) {
    arrangement.servers = static_cast<int>(group.members.size() - at_work);
  }
  arrangement.layout.host_of.clear();
  for (const int identity : group.members) {
    arrangement.layout.host_of.push_back(whole.arrangement.layout.host(identity));
  }
  // Whoever has the model gives it to the others.
  group.training.broadcast = true;
  group.training.start = {};
  return group;
}

}  // namespace

int Group::rank_of(int identity) const {
  const auto at = std::find(members.begin(), members.end(), identity);
  return at == members.end() ? -1 : static_cast<int>(at - members.begin());
}

std::string regroup_problem(const workload::Training& whole, const std::vector<bool>& there) {
  const auto begin = there.begin();
  const auto servers_from = begin + whole.workers();
  if (std::find(begin, servers_from, true) == servers_from) return "no worker is left";
  const bool has_servers = whole.row().has_servers;
  if (has_servers && std::find(servers_from, there.end(), true) == there.end()) {
    return "no server is left";
  }
  return collective::problem(whole.strategy, made(whole, there, 0).training.arrangement);
}

Group regroup(const workload::Training& whole, const std::vector<bool>& there, int first) {
  check(first < whole.workers() && there[static_cast<std::size_t>(first)],
        "a worker that is there has the model");
  return made(whole, there, first);
}

}  // namespace tw::recover
