// SPDX-License-Identifier: Apache-2.0
// What messages of a group (medium.h) meet on their way: the ports of its tree, how long packets
// take, and how many of them fit.
//
// The tree is that of the members' paths to the hub, which are picked by destination; what comes
// down takes the same links back, as multicast does (reverse path forwarding).

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/medium/medium.h"
#include "trainwire/network/network.h"

#include <functional>
#include <vector>

namespace tw::medium {

struct GroupFrames {
  int frame_bytes = 1514;
  int header_bytes = 66;  ///< of those; an answer is no more
};

struct GroupPath {
  std::vector<std::vector<int>> up = {};  ///< each member's ports to the hub
  std::vector<int> ports = {};            ///< all that messages take, each once
  std::vector<int> switches = {};         ///< that sums meet, each once
  /// Of each member: propagation, and each further line's time for a frame.
  std::vector<Duration> travelling = {};
  std::vector<double> loss = {};  ///< of each member's packets on their way
  double any_loss = 0;            ///< that a packet is lost on any of the ports
  Duration round_trip = {};       ///< the longest, a packet there and its answer back
  /// Packets: its part of the least that a port and half of its queue hold.
  int room = 1;
};

/// What a port is like now.
using RequestOf = std::function<network::Request(int port)>;

GroupPath group_path(const network::Network& network, const GroupRequest& group,
                     const GroupFrames& frames, const RequestOf& request);

}  // namespace tw::medium
