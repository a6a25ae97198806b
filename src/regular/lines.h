// SPDX-License-Identifier: Apache-2.0
// Connections that do not disturb one another: each has its rate whatever the others do, so a
// message takes as long to leave as its bytes say, and what happens needs no solver.
//
// That is so where every port is used by one connection, or by several that fill it in no case:
// the rates that they would have alone, which are the most that they can have, are together less
// than it carries. (Max-min then gives each flow what its narrowest port carries, always.) Where a
// port is shared and could be full, rates depend on who sends at the same time: not this.

#pragma once

#include "trainwire/base/units.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tw::regular {

/// From one host to another.
struct Line {
  std::vector<int> ports = {};  ///< none inside a host, where nothing takes time
  Duration travelling = {};     ///< from when a message has left until it is there
  Duration first = {};          ///< until the first bytes of one that is passed on have left
};

/// How the network is, told by whoever simulates it message by message. All rates in bytes a second.
struct Physics {
  int ports = 0;
  std::function<Line(int from_host, int to_host)> line;
  std::function<double(int port)> capacity;
  /// How long so many bytes take to leave at a rate.
  std::function<Duration(double bytes, double rate)> leaving;
  /// Hosts of equal numbers reach any third one alike, over the same ports but for their own.
  std::function<int(int host)> alike = {};
  /// Whether so many bytes are passed on as they come, where a strategy does so.
  std::function<bool(std::int64_t bytes)> passes_on;
};

/// A connection that keeps its rate.
struct Steady {
  Line line = {};
  double rate = 0;  ///< without ports: 0
};

struct Ends {
  int from = 0;  ///< host
  int to = 0;
};

/// Nothing where two of them could be in each other's way, or a port carries nothing.
std::optional<std::vector<Steady>> steady(const Physics& physics, const std::vector<Ends>& all);

/// Of a message over the connection.
Duration leaving(const Physics& physics, const Steady& connection, std::int64_t bytes);

}  // namespace tw::regular
