// SPDX-License-Identifier: Apache-2.0
// Somebody whose packets use a network's ports without being a connection's: he is told what arrives
// at the end of a port, and says where it goes on (group/group.h).

#pragma once

#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/time.h"

namespace tw::netsim {

class Guest {
 public:
  virtual ~Guest() = default;
  /// A packet of his is at the end of a port.
  virtual void arrive(int port, const Packet& packet, Time now) = 0;
  /// As he has asked for (Net::call).
  virtual void wake(int what, Time at) = 0;
};

}  // namespace tw::netsim
