// SPDX-License-Identifier: Apache-2.0
// The [[fault]] of an experiment, played on processes and emulated links.
//
// A fault of a rank at a step is played by the rank itself as it begins that step: a signal that it
// gives itself. Everything else is played from here, within the hundredth of a second in which ranks
// are looked after. What goes on when is network/fault_course.h's.

#pragma once

#include "trainwire/lab/rank_talk.h"
#include "trainwire/network/fault_course.h"
#include "trainwire/network/plan.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/testbed/cluster.h"

#include <cstddef>
#include <vector>

namespace tw::lab {

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

  /// Times are CLOCK_MONOTONIC.
  std::vector<network::PlayedFault> played() const { return course_.played(); }

 private:
  void begin_by_step(const RankTalk& talk, const network::FaultCourse::Alter& alter);
  void signal(std::size_t fault, int signal, const RankTalk& talk, RankGroup& ranks) const;

  network::FaultCourse course_;
};

}  // namespace tw::lab
