// SPDX-License-Identifier: Apache-2.0
// What a simulation found of its cross traffic, as `run` records it.

#pragma once

#include "trainwire/network/network.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/sim/simulate.h"

namespace tw::sim {

/// REQUIRES: there was some.
record::CrossTraffic described_traffic(const network::Network& network, const Simulated& simulated);

/// What links into hosts carried lies between what came and what was sent.
record::Check traffic_check(const network::Network& network, const Simulated& simulated);

/// cross_flows.csv, where there was some; nanoseconds since the simulation's begin.
void write_cross_flows(const Simulated& simulated, record::RunFolder& folder);

}  // namespace tw::sim
