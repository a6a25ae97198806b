// SPDX-License-Identifier: Apache-2.0
// Ranks where nothing is built or shaped: on this machine's loopback addresses, where nothing is
// captured either, or on hosts that are machines (fleet.h), where packets are captured and counted
// and everything that was written comes back.

#pragma once

#include "trainwire/fleet/fleet.h"
#include "trainwire/lab/conduct.h"
#include "trainwire/lab/training.h"
#include "trainwire/record/run.h"

#include <cstdint>
#include <vector>

namespace tw::lab {

/// host0 is 127.0.0.1 and so on; all of 127.0.0.0/8 is this machine.
std::vector<HostAddress> loopback_hosts(int hosts);

/// Starts the request's commands here. Of the outcome only ranks, times, failure and interruption
/// are filled. Throws SystemError.
ConductOutcome conduct_on_loopback(const ConductRequest& request);

/// The plan with the machines' names and addresses in place of those of emulated hosts.
/// REQUIRES: as many machines as hosts.
void take_names(network::NetPlan& plan, const fleet::Fleet& fleet);

/// Starts the request's commands on their hosts. Of the outcome network, watch and verdict stay
/// empty. Throws Error when hosts cannot do what they are told before anything has begun.
ConductOutcome conduct_on_fleet(const ConductRequest& request, fleet::Fleet& fleet);

/// How far the machines' clocks differ, and what was done about it.
record::Check clocks_check(const fleet::Fleet& fleet);
/// By how much times that a host has written down must be lowered to be on the first host's clock;
/// 0 where they agree as closely as can be told.
std::int64_t clock_shift_ns(const fleet::Fleet& fleet, int host);

}  // namespace tw::lab
