// SPDX-License-Identifier: Apache-2.0
// Whether a packet simulation is worth its time where the formula does not hold: in regimes in which it was nearer to runs than
// the flow level (bench/calibrate), and as long as it has few packets.
//
// Limits: packets are counted roughly, from what the busiest rank sends; twice or half of it is not unusual.

#pragma once

#include "trainwire/forecast/regime.h"
#include "trainwire/spec/experiment.h"

namespace tw::forecast {

/// Whether packets tell the regime better than flows.
bool is_nearer_by_packets(Regime regime);

/// On all links, of all steps that the experiment has. `step_s` is how long the first job's takes, as cross traffic goes on meanwhile.
double packets_of(const spec::Experiment& experiment, double step_s);

}  // namespace tw::forecast
