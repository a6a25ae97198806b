// SPDX-License-Identifier: Apache-2.0
// How a job's connections send, as its keys say.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/spec/experiment.h"

namespace tw::medium {

/// Throws SpecError for a congestion control of the job's own that cannot be simulated.
Sending sending_of(const spec::Network& network, const spec::Job& job);

}  // namespace tw::medium
