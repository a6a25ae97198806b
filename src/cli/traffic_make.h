// SPDX-License-Identifier: Apache-2.0
// `trainwire traffic make`: a load file, and what it asks for.

#pragma once

#include "trainwire/cli/command.h"
#include "trainwire/cli/traffic_options.h"

namespace tw::cli {

int make_traffic(const TrafficOptions& options, Streams streams);

}  // namespace tw::cli
