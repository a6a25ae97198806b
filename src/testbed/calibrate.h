// SPDX-License-Identifier: Apache-2.0
// Packets take time to get to a user-space engine and from it: some 50 us each way on an idle
// machine. Measured once and taken off what the engine holds them, a round trip of 200 us is one.

#pragma once

#include "trainwire/testbed/cluster.h"

namespace tw::testbed {

/// Has the engine release packets early by what one path takes too long, at most by the shortest
/// delay of a link, so that nothing overtakes; not at all where the kernel delays (netem). Throws
/// SystemError when nothing gets through.
void calibrate(const Cluster& cluster);

/// How much earlier, in nanoseconds, for a round trip of `found` where `asked` is due; pure.
std::int64_t early_for(Duration asked, Duration found, Duration shortest_delay);

}  // namespace tw::testbed
