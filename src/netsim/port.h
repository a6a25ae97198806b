// SPDX-License-Identifier: Apache-2.0
// One direction of a link, packet by packet: a line of finite rate, the queue before it, marks,
// loss and delay.
//
// The queue is first come first served, so nothing but the time at which the line will be free has
// to be kept: what waits follows from that, a packet's fate is known when it arrives, and it needs
// one event, its arrival at the other end. Packets of a port arrive in the order in which they came.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/base/units.h"
#include "trainwire/fabric/port_model.h"
#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/ring.h"
#include "trainwire/network/network.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tw::netsim {

/// Packets that find much waiting are marked: none below `from` bytes, all from `all` on, between
/// them a share that rises to `most`. Equal bounds: a step.
struct Marking {
  double from = 0;
  double all = 0;
  double most = 1;
};

struct PortSettings {
  std::string name;  ///< with the direction it names the random streams
  network::Direction direction = {};
  BitRate rate = {};
  Duration delay = {};
  Duration jitter = {};
  double loss = 0;
  double loss_burst = 1;
  bool loses_trains = false;               ///< a train is lost as a whole
  std::optional<double> queue_bytes = {};  ///< none: nothing is ever dropped
  std::optional<Marking> marking = {};
};

/// What an experiment asks of a port. Hosts hold back what their own line cannot take.
PortSettings settings_of(const network::Network& network, int port);

struct PortCounts {
  std::int64_t packets = 0;  ///< that left on the line
  std::int64_t wire_bytes = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t lost = 0;
  std::int64_t dropped = 0;
  std::int64_t marked = 0;
  double deepest_bytes = 0;
};

class Port {
 public:
  Port(PortSettings settings, std::uint64_t seed);

  /// A packet arrives. Returns when its last bit has left the line; kNever: it was dropped.
  Time arrive(const Packet& packet, Time now);
  /// Bytes that wait for the line or are on it.
  double waiting_bytes(Time now) const {
    return line_free_ <= now ? 0 : static_cast<double>(line_free_ - now) / ps_per_byte_;
  }

  bool empty() const { return leaving_.empty(); }
  /// When the next packet is at the other end. REQUIRES, as below: !empty().
  Time next() const { return leaving_.front().at; }
  Packet take();
  /// Whether the next packet follows without a pause on the line and is of the same connection.
  bool continues(const Packet& packet, Time now) const;

  /// From now on; what is on its way stays as it is.
  void alter(PortSettings settings);
  const PortSettings& settings() const { return settings_; }
  const PortCounts& counts() const { return counts_; }

 private:
  struct Leaving {
    Time at = 0;
    Packet packet = {};
  };

  bool marks(double waiting);
  bool loses(const Packet& packet);

  PortSettings settings_;
  double ps_per_byte_;
  Time delay_;
  fabric::LossModel loss_;
  fabric::DelayModel jitter_;
  Random marking_;
  std::int64_t lost_train_ = -1;  ///< the train that is being judged, and whether it is lost
  bool loses_train_ = false;
  double line_free_exact_ = 0;
  Time line_free_ = 0;
  Ring<Leaving> leaving_;
  PortCounts counts_;
};

}  // namespace tw::netsim
