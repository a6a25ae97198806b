// SPDX-License-Identifier: Apache-2.0
// Several ranks on each host, from the connections between hosts: ranks that exchange data have a
// connection of their own, so a strategy and a layout together say how many there are between each
// two hosts, and what each of them carries. That tells more than the bytes between hosts: six ranks
// on three hosts may send as much from host to host as three ranks of another strategy do.
//
// Nothing about a strategy is written down here a second time: its connections are counted from
// its schedule.
//
// Limits: ranks in order, equally many on each host; strategies whose ranks on a host speak to
// other hosts through one of them show nothing (ring, hierarchical, trees of hosts).

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tw::recognise {

/// Of one direction of a connection, in one step.
struct Carried {
  int from;  ///< hosts
  int to;
  double bytes;
};

struct Packed {
  std::string strategy;  ///< as the catalogue names it
  int ranks_on_each;
  std::vector<int> order;    ///< hosts, in the order of their ranks
  std::vector<int> servers;  ///< of them
  std::size_t connections;   ///< between two hosts, at most
  double payload;            ///< bytes
  double residual;           ///< sum of differences over sum of bytes
};

/// Every strategy of several ranks on each host that has such connections.
std::vector<Packed> match_packed(std::span<const Carried> connections);

}  // namespace tw::recognise
