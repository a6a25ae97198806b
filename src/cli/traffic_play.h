// SPDX-License-Identifier: Apache-2.0
// `trainwire traffic send` and `sink`: a load between real machines.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/traffic_options.h"
#include "trainwire/traffic/outcome.h"

#include <string>
#include <vector>

namespace tw::cli {

int send_traffic(const command::TrafficOptions& options, command::Streams streams);
int sink_traffic(const command::TrafficOptions& options, command::Streams streams);

/// What became of a load, in lines.
std::vector<std::string> outcome_text(const traffic::Outcome& outcome);

}  // namespace tw::cli
