// SPDX-License-Identifier: Apache-2.0
// The [[fault]] of an experiment, played on processes and emulated links.
//
// A fault of a rank at a step is played by the rank itself as it begins that step: a signal that it
// gives itself. Everything else is played from here, within the hundredth of a second in which ranks
// are looked after. Several faults may be on one port: the lowest rate holds, losses add up. What is
// down loses every packet.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/lab/rank_talk.h"
#include "trainwire/network/plan.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/testbed/cluster.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

/// A fault as it went; CLOCK_MONOTONIC.
struct PlayedFault {
  spec::Fault fault = {};
  std::string where = {};                     ///< "host0", "rank 2 of job0"
  std::optional<std::int64_t> begin_ns = {};  ///< nothing when it did not
  std::optional<std::int64_t> end_ns = {};    ///< nothing when it lasted
};

class FaultPlayer {
 public:
  FaultPlayer() = default;
  /// Of the experiment as it is run.
  FaultPlayer(const spec::Experiment& experiment, const network::NetPlan& plan);

  /// Throws SpecError when a fault is of a link.
  void require_no_links() const;
  /// Has ranks play what is theirs, and tell of the steps at which something is to be played.
  void prepare(std::vector<TrainingJob>& jobs) const;
  /// Begins and ends what is due. Throws SystemError.
  void look(const RankTalk& talk, RankGroup& ranks, testbed::Cluster* cluster);

  std::vector<PlayedFault> played() const;

 private:
  struct Planned {
    PlayedFault played = {};
    std::size_t job = 0;
    std::vector<int> ports = {};
    bool is_down = false;                        ///< of a link that flaps, at present
    std::optional<std::int64_t> change_ns = {};  ///< when that changes

    bool goes_on() const { return played.begin_ns && !played.end_ns; }
  };

  bool is_due(const Planned& fault, std::size_t number, const RankTalk& talk,
              std::int64_t now_ns) const;
  void begin(Planned& fault, std::size_t number, const RankTalk& talk, RankGroup& ranks,
             testbed::Cluster* cluster);
  void end(Planned& fault, const RankTalk& talk, RankGroup& ranks, testbed::Cluster* cluster);
  void flap(Planned& fault, testbed::Cluster* cluster);
  void alter(const std::vector<int>& ports, testbed::Cluster* cluster) const;

  std::vector<BitRate> rates_;  ///< of the plan's ports
  std::vector<Planned> faults_;
};

}  // namespace tw::lab
