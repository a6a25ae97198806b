// SPDX-License-Identifier: Apache-2.0
// The engine that delays and loses packets without touching them: the kernel hands over their
// numbers (NFQUEUE), keeps the packets, and gets the numbers back when they are due.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/testbed/engine_counters.h"
#include "trainwire/testbed/hold_rules.h"

#include <vector>

namespace tw::testbed {

/// Binds the queues, writes a byte to `ready`, and works until `stop` is readable. Runs in the
/// switches' network namespace, in a process of its own. Throws SystemError.
void run_hold(const network::NetPlan& plan, const std::vector<SwitchDevice>& devices,
              const std::vector<Hold>& holds, EngineCounters& counters,
              const os::FileDescriptor& ready, const os::FileDescriptor& stop);

}  // namespace tw::testbed
