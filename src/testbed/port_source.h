// SPDX-License-Identifier: Apache-2.0
// What every port of an emulated network has counted: kernel devices and their queues, and the
// engine in user space where packets wait or are lost there.

#pragma once

#include "trainwire/testbed/cluster.h"
#include "trainwire/watch/counters.h"

namespace tw::testbed {

/// An engine's queues tell the most that waited since they were last looked at: one reader takes
/// it, others leave it and see 0 or less than there was.
enum class Depths { Take, Leave };

/// Of the plan's ports, in their order. A host's own link is counted by the host's device, as
/// captures there see it. Loss that the netem engine causes is not counted.
/// REQUIRES: `cluster` outlives it. Throws SystemError.
watch::PortSource port_source(const Cluster& cluster, Depths depths);

}  // namespace tw::testbed
