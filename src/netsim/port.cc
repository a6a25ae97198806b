// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/port.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::netsim {
namespace {

network::Port model_of(const PortSettings& settings) {
  return {.link = settings.name,
          .direction = settings.direction,
          .rate = settings.rate,
          .delay = settings.delay,
          .jitter = settings.jitter,
          .loss = settings.loss,
          .loss_burst = settings.loss_burst};
}

/// No two lines are equally fast. Were they, what a host's stream has once left in a switch's queue
/// would stay there for as long as it sends, and who else finds it full would find it so forever.
constexpr double kSlowerHosts = 50e-6;
/// Nor do hosts keep step. Did they, of those that fill a queue one would always be first, and the
/// others' packets lost, however often they are sent.
constexpr double kHesitates = 0.2;
/// What comes within that a fast card hands over at once (GRO), whatever trains it was sent in.
constexpr Time kPoll = 10 * kMillisecond / 1000;
constexpr double kLargeFrame = 4096 + 74;  ///< of RDMA
constexpr double kSmallFrame = 500;        ///< by which a mean depth falls while nothing comes

/// As DCQCN asks for, but early enough that marks come long before the queue is full.
Marking marking_before(double queue, BitRate rate) {
  Marking marking = dcqcn_marking(rate);
  const double smaller = std::min(1.0, queue / 2 / marking.all);
  marking.from *= smaller;
  marking.all *= smaller;
  return marking;
}

double ps_per_byte(BitRate rate) {
  check(rate.bits_per_second() >= 0, "a line has no negative rate");
  return rate.bits_per_second() > 0 ? 8e12 / rate.bits_per_second() : 0;
}

}  // namespace

Marking dcqcn_marking(BitRate rate) {
  const double scale = rate.bits_per_second() / 25e9;
  return {.from = 100e3 * scale, .all = 400e3 * scale, .most = 0.2};
}

PortSettings settings_of(const network::Network& network, int port) {
  const network::Request& request = network.request(port);
  const bool is_hosts_own = port / 2 < network.hosts() && port % 2 == 0;
  PortSettings settings{.name = network.link_name(port / 2),
                        .direction = network.port(port).direction,
                        .rate = request.rate,
                        .delay = request.delay,
                        .jitter = request.jitter,
                        .loss = request.loss,
                        .loss_burst = request.loss_burst};
  const auto queue = static_cast<double>(request.queue.count());
  if (is_hosts_own) {
    settings.rate = settings.rate * (1 - kSlowerHosts);
    settings.hesitates = kHesitates;
  } else {
    settings.queue_bytes = queue;
  }
  settings.lossless_marking = marking_before(queue, request.rate);
  if (request.ecn) {
    const auto depth = static_cast<double>(request.ecn->count());
    settings.lossless_marking = Marking{.from = depth, .all = depth};
    // A host's own queue holds TCP back and does not mark it.
    if (!is_hosts_own) settings.marking = settings.lossless_marking;
  }
  if (network.end_of(port) >= network.hosts()) {
    settings.pause = rdma::pause_rule(queue, request.rate, request.delay, kLargeFrame);
  }
  return settings;
}

Port::Port(PortSettings settings, std::uint64_t seed)
    : settings_(std::move(settings)),
      ps_per_byte_(ps_per_byte(settings_.rate)),
      delay_(time_of(settings_.delay)),
      loss_(model_of(settings_), seed),
      jitter_(model_of(settings_), seed),
      marking_(seed, "marks " + settings_.name +
                         (settings_.direction == network::Direction{} ? "" : " back")),
      hesitation_(seed, "hesitation " + settings_.name) {}

void Port::alter(PortSettings settings) {
  const bool same_loss = settings.loss == settings_.loss;
  settings_ = std::move(settings);
  ps_per_byte_ = ps_per_byte(settings_.rate);
  delay_ = time_of(settings_.delay);
  if (!same_loss) loss_ = fabric::LossModel(model_of(settings_), marking_.next());
}

bool Port::judges(const Packet& packet, double waiting, Time now) {
  const bool is_lossless = packet.lane() == rdma::Lane::Lossless && holds();
  const auto& marking = is_lossless ? settings_.lossless_marking : settings_.marking;
  if (!marking || (holds() && packet.lane() == rdma::Lane::Urgent)) return false;
  const double idle = now > line_free_ ? static_cast<double>(now - line_free_) / ps_per_byte_ : 0;
  const double depth =
      means_[is_lossless ? 1 : 0].find(waiting, marking->newest, idle / kSmallFrame);
  if (!marking->drops && !packet.can_be_marked) return false;
  if (depth < marking->from) return false;
  if (depth >= marking->all) return true;
  return marking_.uniform() <
         marking->most * (depth - marking->from) / (marking->all - marking->from);
}

bool Port::loses(const Packet& packet) {
  if (settings_.loss <= 0) return false;
  if (!settings_.loses_trains || packet.is_ack) return loss_.loses_next();
  const std::int64_t train = (static_cast<std::int64_t>(packet.connection) << 32) + packet.train;
  if (std::exchange(lost_train_, train) != train) loses_train_ = loss_.loses_next();
  return loses_train_;
}

Time Port::arrive(const Packet& packet, Time now) {
  const double waiting = waiting_bytes(now);
  if (ps_per_byte_ == 0 ||
      (settings_.queue_bytes && waiting + packet.frame_bytes > *settings_.queue_bytes)) {
    ++counts_.dropped;
    return kNever;
  }
  counts_.deepest_bytes = std::max(counts_.deepest_bytes, waiting);
  const bool is_judged = judges(packet, waiting, now);
  if (is_judged && settings_.marking->drops) {
    ++counts_.dropped;
    return kNever;
  }
  Packet* on_line = transmit(packet, now);
  if (on_line != nullptr && is_judged) {
    on_line->marked = true;
    ++counts_.marked;
  }
  return line_free_;
}

Packet* Port::transmit(const Packet& packet, Time now) {
  ++counts_.packets;
  counts_.wire_bytes += packet.frame_bytes;
  counts_.payload_bytes += packet.payload_bytes;
  const double takes = packet.frame_bytes * ps_per_byte_;
  double begins = std::max(line_free_exact_, static_cast<double>(now));
  if (settings_.hesitates > 0 && !holds() && line_free_exact_ < begins) {
    begins += settings_.hesitates * hesitation_.uniform() * takes;
  }
  line_free_exact_ = begins + takes;
  line_free_ = static_cast<Time>(line_free_exact_);
  if (loses(packet)) {
    ++counts_.lost;
    return nullptr;
  }
  Leaving& leaving = leaving_.push({.at = line_free_ + delay_, .packet = packet});
  if (settings_.jitter > Duration(0)) {
    leaving.at = time_of(Duration(jitter_.due_ns(line_free_ / 1000)));
  }
  return &leaving.packet;
}

Packet Port::take() {
  const Packet packet = leaving_.front().packet;
  leaving_.pop();
  return packet;
}

bool Port::continues(const Packet& packet, Time now) const {
  if (leaving_.empty()) return false;
  const Leaving& next = leaving_.front();
  if (next.packet.connection != packet.connection || next.packet.is_ack != packet.is_ack ||
      next.packet.segment != packet.segment + 1) {
    return false;
  }
  const bool is_together = next.packet.train == packet.train || next.at - now <= kPoll;
  return is_together &&
         static_cast<double>(next.at - now) <= 1.01 * ps_per_byte_ * next.packet.frame_bytes;
}

}  // namespace tw::netsim
