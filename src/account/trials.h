// SPDX-License-Identifier: Apache-2.0
// Simulations of one experiment and of what it would be otherwise, flow by flow unless packets are
// asked for, within a time.
//
// What was simulated once is not simulated again. The first trial is of the experiment itself. It takes as few steps as the time allows: where all
// of them would take too long, the first ones stand for the others.
//
// Limits: those of sim/simulate.h at flow level. Faults are left out: they are of a moment, and an
// accounting is of the median step.

#pragma once

#include "trainwire/spec/experiment.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tw::account {

struct Trial {
  double step_s = 0;                     ///< median
  std::vector<double> port_busy_s = {};  ///< by port: what its bytes take at its rate, in all
};

enum class Manner {
  Tcp,
  AtOnce,   ///< streams have their share from their first byte on
  Packets,  ///< packet by packet: queues that overflow, and what TCP makes of that
};

class Trials {
 public:
  /// `experiment` as it is run (spec/scale.h).
  Trials(spec::Experiment experiment, double budget_s);

  /// What is simulated, with fewer steps perhaps.
  const spec::Experiment& experiment() const { return experiment_; }

  /// Nothing where the time is over, or it cannot be simulated: then problem() says why. Packets have half of the time that is
  /// left, and where that is too little nothing else changes.
  std::optional<Trial> of(const spec::Experiment& experiment, std::size_t job,
                          Manner manner = Manner::Tcp);
  const std::string& problem() const { return problem_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// What a simulation gave.
  struct Known {
    spec::Experiment experiment = {};
    Manner manner = Manner::Tcp;
    bool in_any_manner = false;       ///< streams had their shares anyway
    std::vector<double> step_s = {};  ///< by job
    std::vector<double> port_busy_s = {};
  };

  const Known* known(const spec::Experiment& experiment, Manner manner) const;
  void simulate(const spec::Experiment& experiment, Manner manner);
  void simulate(const spec::Experiment& experiment, Manner manner, Clock::time_point end);
  void take_fewer_steps();

  spec::Experiment experiment_;
  double budget_s_;
  Clock::time_point end_;
  std::string problem_ = {};
  std::vector<Known> known_ = {};
};

}  // namespace tw::account
