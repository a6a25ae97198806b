// SPDX-License-Identifier: Apache-2.0
// The least time in which a network can move given bytes, whichever ways switches choose.
//
// Three things bound it. A host's link carries all that the host sends or receives. The links that
// join a zone to the rest (wiring.h) carry, all together, all that leaves or enters it: four hosts
// of 10 Gbit/s behind one link of 10 are four times slower to the outside, and so are they behind
// four links of 2.5. And a single flow takes one way, so it is no faster than the fastest link of
// each group that it crosses, however many links stand beside it.
//
// Limits: lower bounds. Flows that hash onto the same link, queues, headers and the time in which
// a transport finds its rate make it slower.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/network/network.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tw::network {

/// What one host sends to another.
struct Demand {
  int from;
  int to;
  Bytes bytes;
  std::int64_t flows = 1;  ///< that share it; at least 1
};

/// The links that need longest for what they have to carry.
struct Bottleneck {
  std::string where;         ///< "host2", "core", or a zone: "leaf0", "pod1"
  Direction direction = {};  ///< seen from the host, or from inside the zone
  Bytes bytes = {};          ///< that must pass
  BitRate rate = {};         ///< of the links that they may take, together

  double seconds() const;
};

/// Looks links up once and remembers them.
class Limits {
 public:
  /// The network must outlive it.
  explicit Limits(const Network& network) : network_(network) {}

  /// The fastest that one flow may be. REQUIRES, as below: from != to.
  BitRate fastest(int from, int to);
  /// Propagation one way, on the shortest of the paths.
  Duration least_delay(int from, int to);
  /// Nothing when no bytes are to be moved.
  std::optional<Bottleneck> bottleneck(std::span<const Demand> demands);

 private:
  /// The links of a zone in one direction.
  struct Group {
    BitRate sum = {};
    BitRate fastest = {};
    Duration least_delay = {};
  };
  struct Crossing {
    int zone;
    Direction direction;
  };

  std::vector<Crossing> crossings(int from, int to) const;
  const Group& group(const Crossing& crossing);
  /// The zone's, or that of the one link that joins it to the rest.
  std::string name_of(int zone) const;

  const Network& network_;
  std::unordered_map<int, std::array<Group, 2>> groups_;  ///< by zone
};

}  // namespace tw::network
