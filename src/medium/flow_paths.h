// SPDX-License-Identifier: Apache-2.0
// What a message from host to host meets at flow level: its ports, its way, and the path as TCP sees
// it. Which way that is, or that it is all of them, routes.h says.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/fluid/tcp_stream.h"
#include "trainwire/medium/routes.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/experiment.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tw::medium {

/// How many of a frame's bytes, as rates count them, are payload.
double payload_share(const spec::Network& network);

struct FlowPath {
  std::vector<int> ports = {};
  int back = -1;             ///< the other host's own port; -1: there is none
  Duration travelling = {};  ///< propagation, and each further line's time for a frame
  Duration first = {};       ///< the first line's time for a frame
  double weight = 1;         ///< among those that share a link: the inverse of its round trip
  fluid::TcpPath tcp = {};
};

class FlowPaths {
 public:
  /// Throws SpecError for links without a rate. REQUIRES: the network is resolved.
  explicit FlowPaths(const spec::Network& network, std::uint64_t seed = 1);

  const network::Network& network() const { return network_; }
  double share_of_payload() const { return payload_share_; }
  int frame_bytes() const { return frame_bytes_; }
  /// What ports carry, in bytes of payload a second.
  std::vector<double> capacities() const;
  double capacity(int port) const;

  /// Of the next connection between two hosts.
  network::Flow next_flow(int from, int to) { return routes_.next_flow(from, to); }
  /// For from == to there are no ports and no time.
  FlowPath path(const network::Flow& flow);
  // Of ports that others stand for (routes.h).
  bool sprays() const { return routes_.sprays(); }
  int stands_for(int port) const { return routes_.stands_for(port); }
  double parts(int port) const {
    return std::max(1.0, static_cast<double>(routes_.group(port).size()));
  }
  /// Bytes that a stream of that pace, in bytes of payload a second, and round trip keeps in its
  /// host's queue before a port (TCP small queues).
  double kept_in_host(int port, double pace, double rtt_s) const;
  /// As ports are now.
  network::Request request(int port) const;
  /// From now on a port is another. Paths made before are as they were.
  void alter(int port, const network::Request& request) { altered_[port] = request; }

 private:
  double train_bytes(int port, double pace, double rtt_s) const;
  double round_trip_s(const std::vector<int>& there, const std::vector<int>& back) const;

  network::Network network_;
  Routes routes_;
  bool loses_trains_;
  double payload_share_;
  int frame_bytes_;
  fluid::Stack stack_;
  double largest_window_;
  double buffer_bytes_;
  std::unordered_map<int, network::Request> altered_;
};

}  // namespace tw::medium
