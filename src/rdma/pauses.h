// SPDX-License-Identifier: Apache-2.0
// Priority flow control (IEEE 802.1Qbb): a switch counts what it holds of lossless packets by the
// port that brought them, tells that port to pause above a bound, and to go on when two large frames
// less wait. What is on its way until the port has heard needs room beyond the bound; what finds no
// room is dropped.
//
// Limits: bounds are per port and fixed, not shared by all ports of a switch. Pause frames take a
// link's delay and no bytes, and never run out by themselves.

#pragma once

#include "trainwire/base/units.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tw::rdma {

/// For what a port brings to a switch.
struct PauseRule {
  double above_bytes = 0;
  double headroom_bytes = 0;
  double frame_bytes = 0;  ///< a large one
};

/// With the room that a link needs: what it carries in a round trip, and a frame at either end.
PauseRule pause_rule(double above_bytes, BitRate rate, Duration delay, double frame_bytes);

class Pauses {
 public:
  /// A rule for each port, or none.
  explicit Pauses(std::vector<std::optional<PauseRule>> rules);

  /// Whether a port's packets are counted. -1: packets that a host sends itself are not.
  bool counts(int port) const { return port >= 0 && rules_[static_cast<std::size_t>(port)]; }
  /// Whether there is room for what a port brings. REQUIRES, as below: counts(port).
  bool admits(int port, double bytes) const;
  /// Of what a port brought so much is held now, or no longer. Returns what the port is to be told:
  /// true: to pause, false: to go on.
  std::optional<bool> hold(int port, double bytes);
  std::optional<bool> release(int port, double bytes);

 private:
  struct Count {
    double held = 0;
    bool paused = false;
  };
  std::vector<std::optional<PauseRule>> rules_;
  std::vector<Count> counts_;
};

}  // namespace tw::rdma
