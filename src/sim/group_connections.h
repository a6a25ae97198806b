// SPDX-License-Identifier: Apache-2.0
// Groups of jobs' ranks in the medium: gradients for one rank that switches sum, and parameters of
// one rank that are multicast. Which messages belong together is told by the schedule
// (workload/companions.h); ranks on the hub's own host are left out.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/play/player.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace tw::sim {

struct GroupPlace {
  int group = -1;  ///< of the medium
  int member = 0;
};

class GroupConnections {
 public:
  /// REQUIRES: both outlive it.
  GroupConnections(medium::Medium& medium, std::vector<SimulatedJob>& jobs)
      : medium_(medium), jobs_(jobs) {}

  /// The next job. Throws SpecError where it asks for sums or multicast of what is neither.
  /// REQUIRES: its training is in `jobs`.
  void add_job(const spec::Network& network, const spec::Job& job);
  /// Where a message belongs; nothing: it travels alone.
  std::optional<GroupPlace> of(std::size_t job, const play::Message& message);

 private:
  struct Asked {
    bool sums = false;
    bool multicasts = false;
    int slots = 0;
    int priority = 0;
    std::optional<collective::Schedule> step = {};
    std::optional<collective::Schedule> start = {};
  };
  /// Messages of one round: job, before the first step or in each, adding or not, hub, round, chunk,
  /// lane.
  using Key = std::tuple<std::size_t, bool, bool, int, std::int64_t, int, int>;
  struct Found {
    int group = -1;               ///< -1: they travel alone
    std::vector<int> ranks = {};  ///< by member
  };

  Found find(std::size_t job, const collective::Schedule& schedule, const play::Message& message);

  medium::Medium& medium_;
  std::vector<SimulatedJob>& jobs_;
  std::vector<Asked> asked_;  ///< by job
  int switch_slots_ = 0;
  std::map<Key, Found> found_;
  /// By job, adding or not, hub, lane and ranks.
  std::map<std::tuple<std::size_t, bool, int, int, std::vector<int>>, int> groups_;
};

/// Whether a job has switches sum or multicast.
bool uses_groups(const spec::Job& job);

}  // namespace tw::sim
