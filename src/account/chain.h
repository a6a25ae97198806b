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
  /// What is hard to simulate to the point: loss, cross traffic and other jobs.
  double uncertain_s() const;
};
bool is_uncertain(std::string_view part);

/// Nothing where the trials have no answer. REQUIRES: trials are of a resolved experiment.
std::optional<Chain> chain_of(Trials& trials, std::size_t job);

}  // namespace tw::account
