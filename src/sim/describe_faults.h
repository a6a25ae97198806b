// SPDX-License-Identifier: Apache-2.0
// What the faults of a simulation cost its jobs.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/sim/simulate.h"

#include <vector>

namespace tw::sim {

/// `jobs` are the simulated ones, described.
std::vector<record::Fault> described_faults(const std::vector<record::Job>& jobs,
                                            const Simulated& simulated);

}  // namespace tw::sim
