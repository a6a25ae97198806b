// SPDX-License-Identifier: Apache-2.0
// The exact engine: a switch in user space between the TAP devices of the emulated hosts. Every
// wire packet is queued, marked, lost and delayed on its own, also inside super-packets
// (tap_port.h).
//
// Needs root and /dev/net/tun. Its ceiling is one processor: some 10 Gbit/s in super-packets, some
// 100,000 single packets a second.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/testbed/engine_counters.h"
#include "trainwire/testbed/tap_device.h"

#include <span>

namespace tw::testbed {

/// Moves frames between the hosts as the plan says until `stop` can be read. Host i's device is
/// taps[i], on which the caller has set rate and queue of the host's own port (a token bucket). One
/// thread; sets its timer slack. A device that disappears is left out from then on. Frames that
/// cannot be held in memory or written count as dropped. Throws SystemError when it cannot wait.
/// REQUIRES: taps.size() == plan.hosts.size(), counters.ports().size() == plan.ports.size().
void run_tap_switch(const network::NetPlan& plan, std::span<const os::FileDescriptor> taps,
                    EngineCounters& counters, const os::FileDescriptor& stop);

}  // namespace tw::testbed
