// SPDX-License-Identifier: Apache-2.0
// Control connections beside the gradients', as frameworks have them: every rank keeps
// `side_connections` with the first rank (that one with the second), and before each exchange both
// ends tell each other 64 bytes.
//
// Limits: what frameworks say there, and how often, differs; the message is a stand-in of that
// size.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/trainer/exchange.h"
#include "trainwire/transport/tcp/mesh.h"
#include "trainwire/workload/script.h"

#include <functional>
#include <span>
#include <vector>

namespace tw::trainer {

/// Lanes from here on are side connections, and idle ones.
inline constexpr int kFirstSideLane = 1 << 20;
inline constexpr int kFirstIdleLane = 1 << 21;
inline constexpr std::size_t kSideBytes = 64;

/// The side connections in which a rank takes part.
std::vector<transport::tcp::Hello> side_connections(const workload::Training& training, int rank);
/// Connections that a framework makes and does not use, `idle` of each other rank with the first.
std::vector<transport::tcp::Hello> idle_connections(int idle, int rank, int ranks);

class SideTalk {
 public:
  /// `look` is called while it waits, and may throw. REQUIRES: the connections outlive it.
  SideTalk(std::span<const transport::tcp::Connection> connections, Duration patience,
           std::function<void()> look = {});

  /// Tells every other end and hears from it. Throws Error that names who is silent.
  void talk();

  /// All of it is framing.
  const std::vector<WireCount>& counts() const { return counts_; }

 private:
  std::span<const transport::tcp::Connection> connections_;
  Duration patience_;
  std::function<void()> look_;
  std::vector<WireCount> counts_;
};

}  // namespace tw::trainer
