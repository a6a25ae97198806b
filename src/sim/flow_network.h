// SPDX-License-Identifier: Apache-2.0
// A network over which messages flow like fluids: each message is a flow from its first byte to its
// last, all that share a port share its rate (fluid/sharing.h), and what has left a host is there
// after the propagation of its path.
//
// A port carries payload at its rate less headers: of a frame of MTU + 14 bytes the payload is MTU
// - 52 (IPv4; 72 for IPv6), as rates count it. Flows of equal paths are alike. A message of no
// bytes, or between ranks of one host, takes no time on the line.
//
// Limits: no queues, no loss, no slow start: a flow has its share from its first moment. Paths are
// picked by destination, as the emulation picks them.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/fluid/sharing.h"
#include "trainwire/network/network.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace tw::sim {

/// How many of a frame's bytes, as rates count them, are payload.
double payload_share(const spec::Network& network);

class FlowNetwork {
 public:
  /// Throws SpecError for links without a rate.
  explicit FlowNetwork(const spec::Network& network);

  /// A flow of `bytes` from host to host begins now. Returns its number, which is free again once it
  /// has ended. REQUIRES: now does not go back.
  int send(int from, int to, std::int64_t bytes, Duration now);
  /// Propagation one way, and each further line's time for a frame.
  Duration travelling(int from, int to);

  /// When the next flow ends as things are; nothing when none is under way. To be asked after all
  /// that happens at one time has been told.
  std::optional<Duration> next_end();
  /// A flow that ends now; nothing when there is none, or no more.
  std::optional<int> ended(Duration now);

  /// Payload bytes that a port has carried until `now`.
  double carried(int port, Duration now) const;
  int ports() const { return network_.ports(); }
  const network::Network& network() const { return network_; }
  /// Of max-min: see fluid::Sharing.
  bool certified() const { return sharing_.certified(); }

 private:
  struct Flow {
    std::vector<int> path = {};
    int share = -1;       ///< its number in sharing_; -1: takes no time
    double left = 0;      ///< bytes, at `since`
    Duration since = {};  ///< when its rate last changed
    double rate = 0;      ///< bytes a second
    std::uint64_t version = 0;
  };
  struct End {
    Duration at = {};
    int flow = 0;
    std::uint64_t version = 0;
    bool operator>(const End& other) const {
      return std::tie(at, flow) > std::tie(other.at, other.flow);
    }
  };
  struct Path {
    std::vector<int> ports = {};
    Duration travelling = {};
  };
  const Path& path(int from, int to);
  void settle(Flow& flow, Duration now);
  void solve(Duration now);
  void expect(int number, Duration now);

  network::Network network_;
  int frame_bytes_;
  fluid::Sharing sharing_;
  std::vector<Flow> flows_;
  std::vector<int> free_;
  std::vector<int> of_share_;  ///< flow by number in sharing_
  std::vector<End> ends_;      ///< a heap
  std::vector<double> carried_;
  std::map<std::pair<int, int>, Path> paths_;
  Duration now_ = {};
  bool changed_ = false;
};

}  // namespace tw::sim
