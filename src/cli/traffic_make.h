// SPDX-License-Identifier: Apache-2.0
// `trainwire traffic make`: a load file, and what it asks for.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/traffic_options.h"

namespace tw::cli {

int make_traffic(const command::TrafficOptions& options, command::Streams streams);

}  // namespace tw::cli
