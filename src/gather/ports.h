// SPDX-License-Identifier: Apache-2.0
// Ranks that share one address, as on a loopback: told apart by their ports, each a host of its own.
//
// Ends of connections with the same port are one rank, and so are ends of one process where it is known whose they are. A rank
// that only sends from one port and receives at another cannot be seen to be one in packets: where the connections that carry
// most are paths whose ends nobody joins, they are joined to one circle, as in a ring. How many ranks there are is then right;
// who follows whom in the circle is a guess.
//
// Several connections from one rank to the next (channels) are known by beginning together (flow/same_senders.h).
//
// Limits: where beginnings do not show that, in few steps or without pauses, channels count as ranks if processes are not known.

#pragma once

#include "trainwire/gather/captured.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tw::gather {

/// Processes by their ports.
using PortOwners = std::map<std::uint16_t, int>;

struct PortHosts {
  /// Names of the ranks, "127.0.0.1:40002" by a port that sends or "process 4711", by the addresses they were given, as
  /// host_table takes them; empty where traffic is not of one address, and nothing was changed.
  std::vector<std::pair<std::string, std::string>> names = {};
  bool is_guess = false;  ///< who follows whom
};

/// Where nearly all payload is between ports of one address.
PortHosts ports_as_hosts(Captured& traffic, const PortOwners& owners = {});

/// Whether it was given here to a rank.
bool is_given(const packet::Address& address);

/// As packets have it: of an address that was given here, the shared one.
packet::Address real_address(const packet::Address& address);
std::string real_text(const packet::Address& address);

}  // namespace tw::gather
