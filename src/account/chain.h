// SPDX-License-Identifier: Apache-2.0
// A simulated step taken apart: one cause after another is left out, in the order of account.h.

#pragma once

#include "trainwire/account/trials.h"
#include "trainwire/record/account.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tw::account {

struct Chain {
  double step_s = 0;
  /// Causes that cost something, in order, and "compute" at last; without intervals.
  std::vector<record::AccountPart> parts = {};
  double overlap_s = 0;              ///< what a step would be longer by if nothing overlapped
  spec::Experiment only_rates = {};  ///< the job alone, where nothing else is left

  double part(std::string_view name) const;
};

/// Nothing where the trials have no answer. REQUIRES: trials are of a resolved experiment.
std::optional<Chain> chain_of(Trials& trials, std::size_t job);

/// From simulated times to those that were measured: what ranks compute is known, the rest is
/// stretched.
struct Stretch {
  double simulated_timers_s = 0;  ///< computing, and waiting for who computes longer
  double timers_s = 0;            ///< measured
  double factor = 1;              ///< of what the network costs
  double error = 0;               ///< of what the network costs, relative: half an interval
  double unexplained_s = 0;

  double measured(double simulated_s) const {
    return timers_s + factor * (simulated_s - simulated_timers_s);
  }
};

/// `compute_s`: as ranks measured it, if they did.
Stretch stretch_of(const Chain& chain, double measured_step_s, std::optional<double> compute_s);

}  // namespace tw::account
