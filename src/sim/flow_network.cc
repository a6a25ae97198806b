// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/flow_network.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tw::sim {
namespace {

constexpr int kEthernetHeader = 14;
constexpr int kHeaders4 = 52;  ///< IPv4, TCP and its timestamps
constexpr int kHeaders6 = 72;

std::vector<double> capacities(const network::Network& network, double share) {
  std::vector<double> bytes_per_second;
  for (int port = 0; port < network.ports(); ++port) {
    const double rate = network.request(port).rate.bits_per_second();
    if (rate <= 0) {
      throw SpecError(
          fmt::format("network: {} has no rate; write one above 0", network.link_name(port / 2)));
    }
    bytes_per_second.push_back(share * rate / 8);
  }
  return bytes_per_second;
}

double datagram_share(const spec::Network& network) {
  return load::payload_share(spec::TrafficKind::Constant,
                             {.mtu = *network.mtu, .ip_version = *network.ip_version});
}

/// The first nanosecond at which `left` bytes have gone.
Duration time_for(double left, double rate) {
  return Duration(static_cast<std::int64_t>(std::ceil(left / rate * 1e9)));
}

}  // namespace

double payload_share(const spec::Network& network) {
  const int headers = *network.ip_version == 6 ? kHeaders6 : kHeaders4;
  return static_cast<double>(*network.mtu - headers) / (*network.mtu + kEthernetHeader);
}

FlowNetwork::FlowNetwork(const spec::Network& network, Told told)
    : network_(network),
      told_(std::move(told)),
      payload_share_(payload_share(network)),
      datagram_worth_(payload_share_ / datagram_share(network)),
      frame_bytes_(*network.mtu + kEthernetHeader),
      sharing_(capacities(network_, payload_share_)),
      carried_(static_cast<std::size_t>(network_.ports())),
      payload_(static_cast<std::size_t>(network_.ports())) {}

int FlowNetwork::connect(int from, int to, const Sending& sending) {
  check(sending.manner == Manner::Stream || sending.pace, "datagrams have a pace");
  if (closed_.empty()) {
    closed_.push_back(static_cast<int>(connections_.size()));
    connections_.emplace_back();
  }
  const int number = closed_.back();
  closed_.pop_back();
  Connection& connection = at(number);
  connection = {.ports = network_.path(from, to),
                .manner = sending.manner,
                .worth = sending.manner == Manner::Datagrams ? datagram_worth_ : 1,
                .version = connection.version + 1};
  if (sending.pace) connection.pace = connection.worth * sending.pace->bits_per_second() / 8;
  for (std::size_t i = 0; i < connection.ports.size(); ++i) {
    const network::Request& request = network_.request(connection.ports[i]);
    connection.travelling += request.delay;
    if (i > 0) connection.travelling += Bytes(frame_bytes_) / request.rate;
  }
  return number;
}

void FlowNetwork::close(int number, Duration now) {
  check(now >= now_, "time does not go back");
  if (now > now_) solve(now_);
  now_ = now;
  Connection& connection = at(number);
  settle(connection, now);
  connection.left = 0;
  connection.messages.clear();
  stop_flowing(connection);
  closed_.push_back(number);
}

void FlowNetwork::send(int number, std::int64_t bytes, Tag tag, Duration now) {
  check(now >= now_, "time does not go back");
  now_ = now;
  Connection& connection = at(number);
  connection.messages.push_back(
      {.bytes = connection.worth * static_cast<double>(bytes), .tag = tag});
  if (connection.messages.size() == 1) begin(number, now);
}

void FlowNetwork::send_on(int number, std::int64_t bytes, Tag tag, std::span<const Tag> behind,
                          Duration now) {
  check(now >= now_, "time does not go back");
  now_ = now;
  Connection& connection = at(number);
  connection.messages.push_back({.bytes = connection.worth * static_cast<double>(bytes),
                                 .tag = tag,
                                 .is_passed_on = bytes > 2 * frame_bytes_,
                                 .behind = static_cast<int>(behind.size())});
  for (const Tag earlier : behind) {
    followers_.emplace(earlier, Follower{.connection = number, .tag = tag});
  }
  if (connection.messages.size() == 1) begin(number, now);
}

/// The first message that waits starts to flow.
void FlowNetwork::begin(int number, Duration now) {
  Connection& connection = at(number);
  connection.left = connection.messages.front().bytes;
  connection.since = now;
  connection.waits = false;
  if (connection.left > 0 && !connection.ports.empty()) {
    connection.rate = 0;
    // Datagrams have their pace before anybody else has a byte a second.
    const double weight = connection.manner == Manner::Datagrams ? connection.pace : 1;
    connection.share = sharing_.add(connection.ports, weight, connection.pace);
    ++flowing_;
    of_share_.resize(std::max(of_share_.size(), static_cast<std::size_t>(connection.share) + 1));
    of_share_[static_cast<std::size_t>(connection.share)] = number;
    changed_ = true;
  } else {
    connection.left = 0;
    expect(number, now);
  }
  const Message& message = connection.messages.front();
  if (!message.is_passed_on || !told_.began || connection.ports.empty()) return;
  const Duration first = Bytes(frame_bytes_) / network_.request(connection.ports[0]).rate;
  arrivals_.push({.at = now + first + connection.travelling,
                  .number = made_++,
                  .tag = message.tag,
                  .begins = true});
}

/// What has gone until now is accounted for.
void FlowNetwork::settle(Connection& connection, Duration now) {
  const double gone =
      std::min(connection.left, connection.leaving() * seconds(now - connection.since));
  connection.left -= gone;
  connection.since = now;
  carry(connection, gone);
}

/// Of bytes that have left, those that come are on every port of the path.
void FlowNetwork::carry(Connection& connection, double bytes) {
  if (connection.manner == Manner::Datagrams) bytes *= connection.rate / connection.pace;
  connection.carried += bytes;
  for (const int port : connection.ports) {
    carried_[static_cast<std::size_t>(port)] += bytes;
    payload_[static_cast<std::size_t>(port)] += bytes / connection.worth;
  }
}

/// Its share is free.
void FlowNetwork::stop_flowing(Connection& connection) {
  ++connection.version;
  connection.rate = 0;
  if (connection.share < 0) return;
  sharing_.remove(std::exchange(connection.share, -1));
  --flowing_;
  changed_ = true;
}

void FlowNetwork::expect(int number, Duration now) {
  Connection& connection = at(number);
  ++connection.version;
  const double rate = connection.leaving();
  if (connection.left > 0 && rate <= 0) return;  // it stands still
  const Duration at = connection.left > 0 ? now + time_for(connection.left, rate) : now;
  ends_.push_back({.at = at, .connection = number, .version = connection.version});
  std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
}

void FlowNetwork::solve(Duration now) {
  if (!std::exchange(changed_, false)) return;
  for (const int share : sharing_.solve()) {
    const int number = of_share_[static_cast<std::size_t>(share)];
    settle(at(number), now);
    at(number).rate = sharing_.rate(share);
    expect(number, now);
  }
}

void FlowNetwork::forget_stale() {
  while (!ends_.empty() && ends_.front().version != at(ends_.front().connection).version) {
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
  }
}

std::optional<Duration> FlowNetwork::next() {
  solve(now_);
  forget_stale();
  std::optional<Duration> next;
  if (!ends_.empty()) next = ends_.front().at;
  if (!arrivals_.empty() && (!next || arrivals_.top().at < *next)) next = arrivals_.top().at;
  return next;
}

std::optional<int> FlowNetwork::ended(Duration now) {
  forget_stale();
  if (ends_.empty() || ends_.front().at > now) return {};
  return ends_.front().connection;
}

/// The message that flows has left; the next one flows.
void FlowNetwork::end_message(int number, Duration now) {
  Connection& connection = at(number);
  const Tag tag = connection.messages.front().tag;
  carry(connection, connection.left);
  connection.left = 0;
  stop_flowing(connection);
  connection.waits = connection.messages.front().behind > 0;
  if (connection.waits) return;
  arrivals_.push({.at = now + connection.travelling, .number = made_++, .tag = tag});
  connection.messages.pop_front();
  if (!connection.messages.empty()) begin(number, now);
  told_.left(tag, now);
}

void FlowNetwork::advance(Duration now) {
  check(now >= now_, "time does not go back");
  solve(now_);
  now_ = now;
  while (const std::optional<int> number = ended(now)) end_message(*number, now);
  while (!arrivals_.empty() && arrivals_.top().at <= now) {
    const Arrival arrival = arrivals_.top();
    arrivals_.pop();
    arrive(arrival, now);
  }
}

void FlowNetwork::arrive(const Arrival& arrival, Duration now) {
  if (arrival.begins) {
    told_.began(arrival.tag, now);
    return;
  }
  const auto [first, last] = followers_.equal_range(arrival.tag);
  std::vector<Follower> followers;
  for (auto it = first; it != last; ++it) followers.push_back(it->second);
  followers_.erase(first, last);
  for (const Follower& follower : followers) {
    Connection& connection = at(follower.connection);
    for (Message& message : connection.messages) {
      if (message.tag == follower.tag) --message.behind;
    }
    if (connection.waits && connection.messages.front().behind == 0) {
      end_message(follower.connection, now);
    }
  }
  told_.came(arrival.tag, now);
}

void FlowNetwork::alter(int port, const network::Request& request, Duration now) {
  check(now >= now_, "time does not go back");
  solve(now_);
  now_ = now;
  sharing_.set_capacity(port, payload_share_ * request.rate.bits_per_second() / 8);
  changed_ = true;
}

std::int64_t FlowNetwork::arrived(int number, Duration now) const {
  const Connection& connection = at(number);
  // What has left within the last `travelling` is still on its way.
  const double bytes = connection.carried +
                       connection.rate * seconds(now - connection.since - connection.travelling);
  return std::llround(std::max(0.0, bytes) / connection.worth);
}

PortFigures FlowNetwork::figures(int port) const {
  PortFigures figures{.payload_bytes = payload_[static_cast<std::size_t>(port)],
                      .wire_bytes = carried_[static_cast<std::size_t>(port)] / payload_share_};
  // When all is over there is nobody to be asked, for so many ports.
  for (std::size_t i = 0; flowing_ > 0 && i < connections_.size(); ++i) {
    const Connection& connection = connections_[i];
    if (std::find(connection.ports.begin(), connection.ports.end(), port) ==
        connection.ports.end()) {
      continue;
    }
    const double gone =
        std::min(connection.left, connection.rate * seconds(now_ - connection.since));
    figures.payload_bytes += gone / connection.worth;
    figures.wire_bytes += gone / payload_share_;
  }
  figures.packets = std::llround(figures.wire_bytes / frame_bytes_);
  return figures;
}

}  // namespace tw::sim
