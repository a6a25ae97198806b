// SPDX-License-Identifier: Apache-2.0
// From a simulated step to the one that was measured.
//
// Computing is what ranks measured of it. What then differs is shared out by how far each kind of
// part is usually off: transfer and delay by a tenth; loss, cross traffic and other jobs by 60 %,
// and by half of the step where packets were seen to be dropped. So a step that loss made longer than
// simulated has more loss in it, not more transfer. Transfer and delay are stretched by a quarter at
// most, the others threefold unless drops were seen; what is left is unexplained.
//
// Limits: one factor for all that is uncertain: of loss and cross traffic together it cannot tell
// which was simulated worse.

#pragma once

#include "trainwire/account/chain.h"

#include <optional>
#include <string>

namespace tw::account {

/// What is known of a job's median step.
struct Measured {
  double step_s = 0;
  std::optional<double> compute_s = {};  ///< of a rank that is not late
  /// Part to which dropped packets belong, where they were counted: "loss", "cross_traffic".
  std::string dropped_by = {};
  /// Where it is known: no more of the step is theirs.
  std::optional<double> dropped_most_s = {};
};

struct Stretch {
  double simulated_timers_s = 0;  ///< computing, and waiting for who computes longer
  double timers_s = 0;            ///< the same, measured
  double factor = 1;              ///< of transfer, delay and slow links
  double error = 0;               ///< half their interval, relative
  double uncertain_factor = 1;    ///< of loss, cross traffic and other jobs
  double uncertain_error = 0;
  std::string added_to = {};  ///< a part that simulations have nothing of
  double added_s = 0;
  double unexplained_s = 0;
  double off_s = 0;  ///< what was to be shared out

  double of(const std::string& part, double simulated_s) const;
  double error_of(const std::string& part) const;
};

Stretch stretch_of(const Chain& chain, const Measured& measured);

}  // namespace tw::account
