// SPDX-License-Identifier: Apache-2.0
// What a strategy sends from host to host, connection by connection, and the search for its hosts
// behind those that were seen.
//
// Ranks that exchange data have a connection of their own, so a strategy and a layout together say
// how many there are between each two hosts, and what each of them carries. With one rank on each
// host that is the matrix of their bytes. With several it tells more: six ranks on three hosts may
// send as much from host to host as three ranks of another strategy do.
//
// Nothing about a strategy is written down here a second time: its connections are counted from
// its schedule. The search gives hosts their places one by one, and gives up at the first pair
// whose connections do not fit.
//
// Limits: ranks in order, equally many on each host; strategies whose ranks on a host speak to
// other hosts through one of them show nothing (ring, hierarchical, trees of hosts).

#pragma once

#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/pattern.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::recognise {

/// Of one direction of a connection, in one step.
struct Carried {
  int from;  ///< hosts
  int to;
  double bytes;
};

/// What the connections from host to host carry, most first; hosts are places 0..hosts()-1.
class Footprint {
 public:
  /// Of hosts that are called by their places.
  Footprint(int hosts, std::vector<Carried> connections);
  /// One connection for each pair that carries bytes.
  explicit Footprint(const Pattern& pattern);
  /// In parts of the payload. REQUIRES: collective::problem(strategy, arrangement) finds none.
  Footprint(std::string_view strategy, const collective::Arrangement& arrangement);

  /// As many as most(), where there are fewer with zeros.
  std::span<const double> at(int from, int to) const {
    return std::span(parts_).subspan(
        (static_cast<std::size_t>(from) * static_cast<std::size_t>(hosts_) +
         static_cast<std::size_t>(to)) *
            most_,
        most_);
  }
  const std::vector<double>& parts() const { return parts_; }
  int hosts() const { return hosts_; }
  double total() const { return total_; }
  double largest() const { return largest_; }
  std::size_t most() const { return most_; }  ///< connections of a pair

 private:
  int hosts_;
  std::size_t most_ = 0;
  double total_ = 0;
  double largest_ = 0;
  std::vector<double> parts_ = {};
};

/// What NCCL's two trees over so many hosts, of one rank each, carry in parts of the payload, half of
/// it each. Where hosts are no power of two they stand otherwise than those of the catalogue: its
/// first rank is a root with one child (ncclGetDtree in src/graph/trees.cc of 2.28).
Footprint nccl_trees(int hosts);

/// Hosts whose places can be found at all within the tries.
inline constexpr int kMostPlaced = 512;

struct Match {
  std::vector<int> place_of;  ///< among those seen, of each expected host
  double payload;             ///< bytes
  double residual;            ///< sum of differences over sum of bytes
};

/// Nothing when no places fit within `tolerance` of the largest connection, or the search was given
/// up after a bounded number of tries.
std::optional<Match> match(const Footprint& seen, const Footprint& expected, double tolerance);

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
