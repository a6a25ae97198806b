// SPDX-License-Identifier: Apache-2.0
// Ranks on this machine's loopback addresses: no emulated network, nothing shaped, nothing
// captured.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/lab/training.h"

#include <vector>

namespace tw::lab {

/// host0 is 127.0.0.1 and so on; all of 127.0.0.0/8 is this machine.
std::vector<HostAddress> loopback_hosts(int hosts);

/// Starts the request's commands here. Of the outcome only ranks, times, failure and interruption
/// are filled. Throws SystemError.
ConductOutcome conduct_on_loopback(const ConductRequest& request);

}  // namespace tw::lab
