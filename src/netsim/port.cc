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

double ps_per_byte(BitRate rate) {
  check(rate.bits_per_second() >= 0, "a line has no negative rate");
  return rate.bits_per_second() > 0 ? 8e12 / rate.bits_per_second() : 0;
}

}  // namespace

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
  if (!is_hosts_own) settings.queue_bytes = static_cast<double>(request.queue.count());
  if (request.ecn) {
    const auto depth = static_cast<double>(request.ecn->count());
    settings.marking = Marking{.from = depth, .all = depth};
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
                         (settings_.direction == network::Direction{} ? "" : " back")) {}

void Port::alter(PortSettings settings) {
  const bool same_loss = settings.loss == settings_.loss;
  settings_ = std::move(settings);
  ps_per_byte_ = ps_per_byte(settings_.rate);
  delay_ = time_of(settings_.delay);
  if (!same_loss) loss_ = fabric::LossModel(model_of(settings_), marking_.next());
}

bool Port::marks(double waiting) {
  if (!settings_.marking || waiting < settings_.marking->from) return false;
  const Marking& marking = *settings_.marking;
  if (waiting >= marking.all) return true;
  return marking_.uniform() <
         marking.most * (waiting - marking.from) / (marking.all - marking.from);
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
  ++counts_.packets;
  counts_.wire_bytes += packet.frame_bytes;
  counts_.payload_bytes += packet.payload_bytes;
  line_free_exact_ =
      std::max(line_free_exact_, static_cast<double>(now)) + packet.frame_bytes * ps_per_byte_;
  line_free_ = static_cast<Time>(line_free_exact_);
  if (loses(packet)) {
    ++counts_.lost;
    return line_free_;
  }
  Leaving& leaving = leaving_.push({.at = line_free_ + delay_, .packet = packet});
  if (settings_.jitter > Duration(0)) {
    leaving.at = time_of(Duration(jitter_.due_ns(line_free_ / 1000)));
  }
  if (packet.can_be_marked && marks(waiting)) {
    leaving.packet.marked = true;
    ++counts_.marked;
  }
  return line_free_;
}

Packet Port::take() {
  const Packet packet = leaving_.front().packet;
  leaving_.pop();
  return packet;
}

bool Port::continues(const Packet& packet, Time now) const {
  if (leaving_.empty()) return false;
  const Leaving& next = leaving_.front();
  return next.packet.connection == packet.connection && next.packet.is_ack == packet.is_ack &&
         static_cast<double>(next.at - now) <= 1.01 * ps_per_byte_ * next.packet.frame_bytes;
}

}  // namespace tw::netsim
