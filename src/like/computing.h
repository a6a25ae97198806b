// SPDX-License-Identifier: Apache-2.0
// Puts what ranks really computed into a job: its time, a host that took longer, how it varied.
//
// Each measured time is compared with what the experiment asked of that rank in that step, jitter
// and straggler included: both engines draw the same jitter from the same seed. What is left over
// is the optimiser, and what the machine took longer; it is added to the compute time.
//
// A host is a straggler when its ranks exceed the others by more than a twentieth, 1 ms and three
// times what a rank varies. The asked jitter stays unless ranks varied by 3 % of the compute time
// besides.
//
// Limits: one straggler, which is all that an experiment can have; the second is told in words.

#pragma once

#include "trainwire/like/like.h"
#include "trainwire/like/phases.h"

#include <map>
#include <vector>

namespace tw::like {

/// Changes job number `job` of `fitted.experiment`, and adds its constants. `ranks`: what each of
/// its ranks computed, in the experiment's own time; empty: nothing is known, and said so.
void fit_computing(Fitted& fitted, std::size_t job,
                   const std::map<int, std::vector<Computed>>& ranks);

}  // namespace tw::like
