// SPDX-License-Identifier: Apache-2.0
// What an emulated network is made of, computed before the kernel is touched: the same plan is
// printed by `net show`, built by every engine and compared with what was measured.
//
// Nodes are numbered: hosts 0..hosts-1, then switches. A port is one direction of one link: the
// place where a packet waits for the line, is delayed and may be lost. Between two hosts there is
// one path, a list of ports; the first one is always the sending host's own. Where several spines
// could be taken, the destination decides (its number modulo the spines), so a flow never reorders.
// Broadcast and multicast follow the paths through the first spine.
//
// Limits: star, dumbbell and leafspine; up to 1024 hosts.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/spec/experiment.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::network {

using Mac = std::array<std::uint8_t, 6>;

/// One direction of one link.
struct Port {
  std::string link;  ///< "host0", "core", "leaf0-spine1"
  spec::Direction direction = {};
  int from = 0;  ///< node
  int to = 0;    ///< node
  BitRate rate = {};
  Duration delay = {};
  Duration jitter = {};           ///< standard deviation; packets of a port are never reordered
  double loss = 0;                ///< share of packets
  double loss_burst = 1;          ///< mean packets lost in a row
  Bytes queue = {};               ///< wire bytes that may wait for the line
  std::optional<Bytes> ecn = {};  ///< packets that find this much waiting are marked
  bool operator==(const Port&) const = default;
};

struct HostPlan {
  std::string name;
  std::string address;  ///< text, without the prefix length
  Mac mac = {};
  bool operator==(const HostPlan&) const = default;
};

struct NetPlan {
  std::vector<HostPlan> hosts;
  std::vector<std::string> switches;  ///< node hosts.size() + i
  std::vector<Port> ports;  ///< each link's from_host port, directly before its to_host one
  int mtu = 1500;
  int ip_version = 4;
  int prefix_length = 16;
  std::string congestion_control;
  std::optional<Bytes> socket_buffer = {};
  /// Largest TCP buffers that the kernel may grow to where socket_buffer is not given: what the
  /// longest path needs.
  Bytes largest_window = {};
  std::uint64_t seed = 1;

  bool lossy() const;  ///< whether any port loses packets

  /// Port by which node `from` reaches host `to`. REQUIRES: from != to.
  int next_port(int from, int to) const;
  /// All ports of the path, in order; empty for from == to.
  std::vector<int> path(int from, int to) const;

  std::vector<std::vector<int>> next = {};  ///< [node][host], -1 where node == host
};

/// Throws SpecError for a topology that cannot be emulated. Of the experiment as it is run:
/// spec::scaled. REQUIRES: the experiment is resolved.
NetPlan make_plan(const spec::Experiment& experiment);

/// Bytes of a frame of `ip_bytes` as rates and queues count them: Ethernet's header, no preamble.
constexpr Bytes frame_bytes(int ip_bytes) { return Bytes(ip_bytes + 14); }

}  // namespace tw::network
