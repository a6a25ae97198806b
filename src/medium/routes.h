// SPDX-License-Identifier: Apache-2.0
// Which of several equally short ways connections take: the one that goes with the destination (as
// the emulation has it), with a hash of the flow (ECMP), or for each packet another (spraying).
//
// Sprayed, what flows takes all ways in equal parts. In the topologies there are, two flows then
// have either all ports of a step in common or none: those ports are one that is as many times as
// wide, which *stands for* them, under the least number among them. So fluids are shared among
// these as among any ports. A step is as fast as its slowest port allows, since each has an equal
// part.

#pragma once

#include "trainwire/network/ecmp.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tw::medium {

class Routes {
 public:
  Routes(const spec::Network& asked, std::uint64_t seed);

  bool sprays() const { return paths_ == spec::Paths::Packet; }
  /// What switches see of the next connection between two hosts: each has a port of its own.
  network::Flow next_flow(int from, int to);
  static network::Flow back(const network::Flow& flow);
  /// The ports of its path, or those that stand for the ports of its paths.
  std::vector<int> ports(const network::Flow& flow);

  /// The port that stands for this one; itself where nothing was sprayed over it.
  int stands_for(int port) const;
  /// All that a port stands for; empty: itself alone.
  const std::vector<int>& group(int port) const;

 private:
  network::Network network_;
  spec::Paths paths_;
  std::uint64_t seed_;
  std::unordered_map<std::uint64_t, std::uint16_t> flows_;  ///< so far, by both hosts
  std::unordered_map<int, int> stands_for_;
  std::unordered_map<int, std::vector<int>> groups_;
};

/// What is asked of ports that are used in equal parts, as of one; `frame_bytes` take as long on it
/// as on one of them.
network::Request together(const std::vector<network::Request>& ports, int frame_bytes);

}  // namespace tw::medium
