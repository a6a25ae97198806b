// SPDX-License-Identifier: Apache-2.0
// A job for those of its ranks that are there: who does what in the new group.
//
// Ranks are known by the number that they had at first, their identity. In a group they are
// numbered anew without gaps: workers first, in a circle that begins with whoever has the model, so
// that neighbours in a ring stay neighbours; then the servers.

#pragma once

#include "trainwire/workload/training.h"

#include <string>
#include <vector>

namespace tw::recover {

struct Group {
  std::vector<int> members = {};  ///< identity of each of the group's ranks
  workload::Training training = {};

  int size() const { return static_cast<int>(members.size()); }
  /// The number in the group; -1 for who is not in it.
  int rank_of(int identity) const;
};

/// Why those that are there cannot be a group ("no worker is left"), or "".
std::string regroup_problem(const workload::Training& whole, const std::vector<bool>& there);

/// `first`: the identity of the worker that becomes rank 0. REQUIRES: regroup_problem() finds
/// nothing; `first` is a worker that is there.
Group regroup(const workload::Training& whole, const std::vector<bool>& there, int first);

}  // namespace tw::recover
