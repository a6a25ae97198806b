// SPDX-License-Identifier: Apache-2.0
// Which packets a switch hands to which queue: rules of the kernel's packet filter, one queue for
// each distinct hold time, so that a queue is released in order.

#pragma once

#include "trainwire/network/plan.h"

#include <string>
#include <vector>

namespace tw::testbed {

/// A device of a switch: what it sends and receives is what the two ports carry.
struct SwitchDevice {
  std::string name = {};
  int index = 0;      ///< the kernel's number
  int node = 0;       ///< the switch it belongs to
  int arriving = 0;   ///< port whose packets come in here
  int departing = 0;  ///< port whose packets go out here
};

/// Between two devices of one switch. A core link's delay is spent where its packets arrive, a
/// host's both where they arrive and where they depart.
struct Hold {
  int in = 0;  ///< device, by the kernel's number; 0: any that no other hold names
  std::string in_name = {};
  int out = 0;  ///< likewise
  std::string out_name = {};
  int queue = 0;
  Duration time = {};
  bool operator==(const Hold&) const = default;
};

/// What departs to a host is delayed on its last link too; what departs to a switch is not yet.
bool faces_host(const network::NetPlan& plan, const SwitchDevice& device);
Duration hold_time(const network::NetPlan& plan, const SwitchDevice& in, const SwitchDevice& out);

/// Exceptions first, the usual case last. Empty when nothing is delayed or lost, now or later.
std::vector<Hold> make_holds(const network::NetPlan& plan,
                             const std::vector<SwitchDevice>& devices);

/// Puts them into the calling thread's network namespace. Throws SystemError.
void apply_holds(const std::vector<Hold>& holds, int ip_version);

}  // namespace tw::testbed
