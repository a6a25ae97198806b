// SPDX-License-Identifier: Apache-2.0
// What a network is, for everyone who builds, measures, simulates or bounds it: nodes, links in
// both directions with what is asked of each, and the paths between hosts.
//
// Nodes are numbered: hosts, then switches (wiring.h). Links too: each host's own, then the core
// links. A *port* is one direction of one link, the place where a packet waits for the line, is
// delayed and may be lost: link i has port 2i upwards (from the host, or the lower switch) and
// 2i + 1 downwards. A path is a list of ports; the first is always the sending host's own.
//
// Where several ways are equally short, a switch picks by destination or by flow. By destination,
// level l takes the l-th digit of the destination's number, counted in as many ways as there are:
// all packets to a host come the same way from everywhere below, and neighbouring hosts are
// reached over different switches. By flow, ecmp.h hashes.
//
// Limits: ports and paths are computed when asked for and overrides are all that is held, so a
// million hosts are no burden; what is asked of a link does not change in time. Scaling is none of
// its business: make it of spec::scaled(experiment) for the network that is emulated.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/network/ecmp.h"
#include "trainwire/network/wiring.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tw::network {

/// What is asked of one direction of a link.
struct Request {
  BitRate rate = {};
  Duration delay = {};
  Duration jitter = {};           ///< standard deviation; packets of a port are never reordered
  double loss = 0;                ///< share of packets
  double loss_burst = 1;          ///< mean packets lost in a row
  Bytes queue = {};               ///< wire bytes that may wait for the line
  std::optional<Bytes> ecn = {};  ///< packets that find this much waiting are marked
  bool operator==(const Request&) const = default;
};

/// One direction of one link, told in full.
struct Port {
  std::string link;  ///< "host0", "core", "leaf0-spine1"
  Direction direction = {};
  int from = 0;  ///< node
  int to = 0;    ///< node
  BitRate rate = {};
  Duration delay = {};
  Duration jitter = {};  ///< as in Request, like all that follows
  double loss = 0;
  double loss_burst = 1;
  Bytes queue = {};
  std::optional<Bytes> ecn = {};
  bool operator==(const Port&) const = default;
};

class Network {
 public:
  /// REQUIRES: the experiment's network is resolved.
  explicit Network(const spec::Network& network);

  const Wiring& wiring() const { return *wiring_; }
  int hosts() const { return wiring_->hosts(); }
  int nodes() const { return hosts() + wiring_->switches(); }
  int links() const { return hosts() + wiring_->core_links(); }
  int ports() const { return 2 * links(); }
  std::string node_name(int node) const;
  std::string link_name(int link) const;

  const Request& request(int port) const;
  int end_of(int port) const;  ///< the node that it leads to
  Port port(int number) const;

  /// Port by which a node passes on what is for a host: picked by destination, or by a flow's hash.
  /// REQUIRES: node != host.
  int next_port(int node, int host, std::optional<std::uint64_t> flow_hash = {}) const;
  /// All ports of the path, in order; empty for from == to.
  std::vector<int> path(int from, int to, std::optional<std::uint64_t> flow_hash = {}) const;
  /// How many equally short paths there are; 1 for from == to.
  std::int64_t path_count(int from, int to) const;

 private:
  Ways ways(int node, int host) const;

  std::shared_ptr<const Wiring> wiring_;  ///< shared: it never changes, so copies may
  Request host_request_;
  Request core_request_;
  std::unordered_map<int, Request> overridden_;  ///< by port
};

/// "host0>leaf0>spine1>leaf1>host3".
std::string path_text(const Network& network, int from, const std::vector<int>& path);

/// Propagation there and back on the paths picked by destination.
Duration round_trip(const Network& network, int a, int b);

}  // namespace tw::network
