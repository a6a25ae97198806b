// SPDX-License-Identifier: Apache-2.0
// One direction of a link, packet by packet: a line of finite rate, the queue before it, marks,
// loss and delay.
//
// The queue is first come first served, so nothing but the time at which the line will be free has
// to be kept: what waits follows from that, a packet's fate is known when it arrives, and it needs
// one event, its arrival at the other end. Packets of a port arrive in the order in which they came.
//
// A port that holds packets back (`hold`) has lanes instead (rdma/lanes.h), each in its order, and a second
// event a packet: the line is free. Its queue and marks are those of a packet's own lane. Ports hold
// back for RDMA, and where packets of several priorities meet.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/base/units.h"
#include "trainwire/fabric/port_model.h"
#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/ring.h"
#include "trainwire/network/network.h"
#include "trainwire/rdma/lanes.h"
#include "trainwire/rdma/pauses.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace tw::netsim {

/// Packets that find much waiting are marked: none below `from` bytes, all from `all` on, between
/// them a share that rises to `most`. Equal bounds: a step. Random early detection (Floyd & Jacobson
/// 1993, 10.1109/90.251892) judges a mean depth and may drop instead; gaps between marks are as
/// chance has them here, not evened out.
struct Marking {
  double from = 0;
  double all = 0;
  double most = 1;
  double newest = 1;   ///< weight of the newest depth in the mean; 1: the depth itself
  bool drops = false;  ///< whoever could have been marked or not
};

/// The mean depth of a queue, as packets find it. While nothing waits it falls as if short packets
/// had found it empty.
class MeanDepth {
 public:
  /// A packet finds so many bytes; `frames` would have fitted on the line since it was idle.
  double find(double bytes, double newest, double frames) {
    if (newest >= 1) return bytes;
    if (bytes <= 0 && frames > 0) mean_ *= std::pow(1 - newest, frames);
    mean_ += newest * (bytes - mean_);
    return mean_;
  }

 private:
  double mean_ = 0;
};

struct PortSettings {
  std::string name;  ///< with the direction it names the random streams
  network::Direction direction = {};
  BitRate rate = {};
  Duration delay = {};
  Duration jitter = {};
  double hesitates = 0;  ///< before a packet that finds the line free: of its time there, at most
  double loss = 0;
  double loss_burst = 1;
  bool loses_trains = false;               ///< a train is lost as a whole
  std::optional<double> queue_bytes = {};  ///< none: nothing is ever dropped
  std::optional<Marking> marking = {};
  std::optional<Marking> lossless_marking = {};  ///< of that lane
  std::optional<rdma::PauseRule> pause = {};     ///< by the switch at its other end; none: never
};

/// As DCQCN asks for: from 100 KB to 400 KB, up to a fifth of the packets, at 25 Gbit/s, and more
/// with the rate.
Marking dcqcn_marking(BitRate rate);

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
  Time paused = 0;  ///< how long its lossless lane was held back, of pauses that are over
};

/// A packet that waits for a line, and the port by which it came; -1: it begins there.
struct Held {
  Packet packet = {};
  int from = -1;
  int priority = 0;
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

  /// From now on packets may be held back, and take the next three calls instead of arrive(). What
  /// is on the line or waits for it stays before them.
  void hold();
  /// Packets of a priority will come: it holds them back if those of another do.
  void admit(int priority);
  bool holds() const { return lanes_.has_value(); }
  /// A packet arrives by another port; false: it was dropped. `has_room`: whatever the queue's size.
  bool accept(const Held& held, bool has_room, Time now);
  /// Puts the next packet on the line if that is free and one may leave. Returns when its last bit
  /// will have left it; kNever.
  Time start(Time now);
  /// The packet that start() put on the line has left it.
  Held finish();
  void drop() { ++counts_.dropped; }
  void pause(bool paused, Time now);
  double held_bytes(rdma::Lane lane) const { return lanes_ ? lanes_->bytes(lane) : 0; }
  /// When all that waits and goes before others of a priority will have left if nothing is paused.
  Time drained(Time now, int priority) const;

  bool empty() const { return leaving_.empty(); }
  /// When the next packet is at the other end. REQUIRES, as below: !empty().
  Time next() const { return leaving_.front().at; }
  Packet take();
  /// Whether the next packet follows without a pause on the line and is the next segment of the same
  /// train, or of the same connection on a fast line: receivers get such together.
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

  /// Whether a packet that finds so much waiting is marked, or dropped where ports do that instead.
  bool judges(const Packet& packet, double waiting, Time now);
  /// Puts a packet on the line behind all before it; nullptr: it is lost there.
  Packet* transmit(const Packet& packet, Time now);
  bool loses(const Packet& packet);

  PortSettings settings_;
  double ps_per_byte_;
  Time delay_;
  fabric::LossModel loss_;
  fabric::DelayModel jitter_;
  Random marking_;
  Random hesitation_;
  std::array<MeanDepth, 2> means_ = {};  ///< of what is shared, and of the lossless lane
  std::int64_t lost_train_ = -1;         ///< the train that is being judged, and whether it is lost
  bool loses_train_ = false;
  double line_free_exact_ = 0;
  Time line_free_ = 0;
  Ring<Leaving> leaving_;
  std::optional<rdma::Lanes<Held>> lanes_ = {};
  std::optional<int> priority_ = {};  ///< of all packets so far
  std::optional<Held> on_line_ = {};  ///< that start() put there
  Time paused_since_ = 0;
  PortCounts counts_;
};

}  // namespace tw::netsim
