// SPDX-License-Identifier: Apache-2.0
// Whether a run can end before its time is over, told before it begins.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/lab/place.h"
#include "trainwire/spec/experiment.h"

namespace tw::command {

/// What a run takes at least, warm-up included, by the same bound: the network's building and
/// measuring and the end come on top.
Duration least_time(const spec::Experiment& experiment, const lab::RunPlace& place);

/// Throws SpecError when a job's steps cannot be over at run.timeout, which would end the run
/// there: by the bound that `plan` prints, without the network's part on loopback.
void require_in_time(const spec::Experiment& experiment, const lab::RunPlace& place);

}  // namespace tw::command
