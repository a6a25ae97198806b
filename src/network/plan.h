// SPDX-License-Identifier: Apache-2.0
// A network as it is emulated, computed before the kernel is touched: the same plan is printed by
// `net show`, built by every engine and compared with what was measured.
//
// Nodes, ports and paths are those of network.h, written out; beside them stands what only an
// emulation needs: addresses, buffers, and which host a switch reaches by which port. Switches pick
// by destination, since kernel switches forward by address; so a flow never reorders.
//
// Limits: up to 1024 hosts.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/experiment.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::network {

using Mac = std::array<std::uint8_t, 6>;

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
  /// Queues may be smaller than the delay needs: then it shows when an engine holds a burst more.
  bool shallow_queues = false;

  /// Faults will let nothing through for a while, or lose packets one by one.
  bool breaks = false;
  bool will_lose = false;

  bool lossy() const;  ///< whether any port loses packets, now or later

  /// Port by which node `from` reaches host `to`. REQUIRES: from != to.
  int next_port(int from, int to) const;
  /// All ports of the path, in order; empty for from == to.
  std::vector<int> path(int from, int to) const;

  std::vector<std::vector<int>> next = {};  ///< [node][host], -1 where node == host
  std::vector<bool> floods = {};            ///< by link: whether broadcasts take it
};

/// Of the experiment as it is run: spec::scaled. Throws SpecError for more hosts than can be
/// emulated. REQUIRES: the experiment is resolved.
NetPlan make_plan(const spec::Experiment& experiment);

/// Largest TCP buffer that a host's kernel may grow to: what the longest path needs.
Bytes largest_window(const spec::Network& network);

/// The largest segment that TCP hands to a host's device of that rate: 125 us of the line, 6 to 64
/// KiB.
Bytes largest_segment(BitRate rate);

/// Bytes of a frame of `ip_bytes` as rates and queues count them: Ethernet's header, no preamble.
constexpr Bytes frame_bytes(int ip_bytes) { return Bytes(ip_bytes + 14); }

}  // namespace tw::network
