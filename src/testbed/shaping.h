// SPDX-License-Identifier: Apache-2.0
// How the kernel's token bucket is set so that it gives a port's rate on a machine whose timers are
// late and whose TCP sends super-packets (measured: docs/emulation.md).

#pragma once

#include "trainwire/network/plan.h"

namespace tw::testbed {

struct Bucket {
  BitRate rate = {};
  Bytes burst = {};  ///< what may leave at once; larger than the largest segment, or it is cut
  Bytes limit = {};  ///< bytes that may wait, the burst included
  bool operator==(const Bucket&) const = default;
};

/// `lossy`: the plan loses packets, so that devices carry MTU-sized frames only.
Bucket bucket_for(const network::Port& port, int mtu, bool lossy);

}  // namespace tw::testbed
