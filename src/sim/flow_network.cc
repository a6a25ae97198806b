// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/flow_network.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"
#include "trainwire/sim/rdma.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace tw::sim {
namespace {

constexpr double kGone = 1e-3;  ///< bytes that rounding leaves
constexpr double kSame = 1e-9;  ///< of rates
/// A message shorter than so many frames is there before anybody could pass on its first bytes.
constexpr int kPassedOnFrames = 2;

double datagram_share(const spec::Network& network) {
  return load::payload_share(spec::TrafficKind::Constant,
                             {.mtu = *network.mtu, .ip_version = *network.ip_version});
}

/// The first nanosecond at which `left` bytes have gone.
Duration time_for(double left, double rate) {
  return Duration(static_cast<std::int64_t>(std::ceil(left / rate * 1e9)));
}

/// The first nanosecond that is not before.
Duration first_at(double s) { return Duration(static_cast<std::int64_t>(std::ceil(s * 1e9))); }

}  // namespace

FlowNetwork::FlowNetwork(const spec::Network& network, Told told, const FlowOptions& options)
    : paths_(network),
      told_(std::move(told)),
      options_(options),
      datagram_worth_(paths_.share_of_payload() / datagram_share(network)),
      rdma_worth_(paths_.share_of_payload() / rdma_share(network)),
      sharing_(paths_.capacities()),
      carried_(static_cast<std::size_t>(paths_.network().ports())),
      payload_(static_cast<std::size_t>(paths_.network().ports())) {}

double FlowNetwork::worth_of(Manner manner) const {
  if (manner == Manner::Rdma) return rdma_worth_;
  return manner == Manner::Datagrams ? datagram_worth_ : 1;
}

int FlowNetwork::connect(int from, int to, const Sending& sending) {
  check(sending.manner != Manner::Datagrams || sending.pace, "datagrams have a pace");
  if (closed_.empty()) {
    closed_.push_back(static_cast<int>(connections_.size()));
    connections_.emplace_back();
  }
  const int number = closed_.back();
  closed_.pop_back();
  Connection& connection = at(number);
  connection = {.from = from,
                .to = to,
                .manner = sending.manner,
                .worth = worth_of(sending.manner),
                .tail_version = connection.tail_version + 1,
                .version = connection.version + 1};
  set_path(connection);
  if (sending.pace) connection.pace = connection.worth * sending.pace->bits_per_second() / 8;
  return number;
}

/// As ports are now.
void FlowNetwork::set_path(Connection& connection) {
  connection.path = paths_.path(connection.from, connection.to);
  const fluid::TcpPath& tcp = connection.path.tcp;
  if (!options_.tcp || connection.manner != Manner::Stream || connection.path.ports.empty()) {
    connection.path.weight = 1;
    return;
  }
  connection.worth = 1 / std::max(0.01, 1 - tcp.loss);
  if (connection.stream) {
    connection.stream->set_path(tcp);
  } else {
    connection.stream.emplace(
        tcp, fluid::TcpStream::Chance{.seed = options_.seed, .number = streams_++});
  }
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
  Message message{.bytes = connection.worth * static_cast<double>(bytes),
                  .tag = tag,
                  .is_passed_on = bytes > kPassedOnFrames * paths_.frame_bytes(),
                  .behind = static_cast<int>(behind.size())};
  for (const Tag earlier : behind) {
    followers_.emplace(earlier, Follower{.connection = number, .tag = tag});
    if (const auto found = holes_.find(earlier); found != holes_.end()) {
      message.holes = found->second;
    }
  }
  connection.messages.push_back(message);
  if (connection.messages.size() == 1) begin(number, now);
}

/// The first message that waits starts to flow.
void FlowNetwork::begin(int number, Duration now) {
  Connection& connection = at(number);
  const Message& message = connection.messages.front();
  connection.left = message.bytes;
  connection.since = now;
  connection.waits = false;
  if (connection.left <= 0 || connection.path.ports.empty()) {
    connection.left = 0;
    expect_at(number, now);
    return;
  }
  if (connection.stream) connection.stream->begin(seconds(now));
  if (connection.tail) notice_tail(number, now);
  flow(number, now);
  if (!message.is_passed_on || !told_.began) return;
  arrivals_.push({.at = now + connection.path.first + connection.path.travelling,
                  .number = made_++,
                  .tag = message.tag,
                  .begins = true});
}

/// What is left flows from now on.
void FlowNetwork::flow(int number, Duration now) {
  Connection& connection = at(number);
  connection.rate = 0;
  connection.since = now;
  connection.cap = cap_of(connection, now);
  // Datagrams have their pace before anybody else has a byte a second.
  const double weight =
      connection.manner == Manner::Datagrams ? connection.pace : connection.path.weight;
  connection.share = sharing_.add(connection.path.ports, weight, connection.cap);
  ++flowing_;
  of_share_.resize(std::max(of_share_.size(), static_cast<std::size_t>(connection.share) + 1));
  of_share_[static_cast<std::size_t>(connection.share)] = number;
  changed_ = true;
  if (connection.cap <= 0) expect(number, now);  // no rate will change
}

double FlowNetwork::cap_of(const Connection& connection, Duration now) const {
  if (!connection.stream) return connection.pace;
  return std::min(connection.pace, connection.stream->cap(seconds(now), connection.left));
}

void FlowNetwork::set_cap(Connection& connection, Duration now) {
  const double cap = cap_of(connection, now);
  if (connection.share < 0 || cap == connection.cap) return;
  connection.cap = cap;
  sharing_.set_cap(connection.share, cap);
  changed_ = true;
}

/// What has gone until now is accounted for.
void FlowNetwork::settle(Connection& connection, Duration now) {
  const double passed_s = seconds(now - connection.since);
  const double gone = std::min(connection.left, connection.leaving() * passed_s);
  connection.left -= gone;
  connection.since = now;
  if (connection.stream) {
    connection.stream->sent({.bytes = gone,
                             .seconds = passed_s,
                             .was_held = connection.rate >= connection.cap * (1 - kSame)},
                            seconds(now));
  }
  carry(connection, gone);
}

/// Of bytes that have left, those that come are on every port of the path.
void FlowNetwork::carry(Connection& connection, double bytes) {
  if (connection.manner == Manner::Datagrams) bytes *= connection.rate / connection.pace;
  connection.carried += bytes;
  for (const int port : connection.path.ports) {
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

void FlowNetwork::expect_at(int number, Duration when) {
  ends_.push_back({.at = when, .connection = number, .version = ++at(number).version});
  std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
}

/// What happens to it next at its present rate.
void FlowNetwork::expect(int number, Duration now) {
  Connection& connection = at(number);
  constexpr Duration kNever = Duration::max();
  Duration next = kNever;
  const double rate = connection.leaving();
  if (rate > 0) next = now + time_for(connection.left, rate);
  if (connection.stream) {
    const double at_s = connection.stream->next(seconds(now), rate, connection.left);
    if (at_s < seconds(next)) next = std::max(now, first_at(at_s));
    const Message& message = connection.messages.front();
    if (const Hole* hole = next_hole(message, now); hole != nullptr && rate > 0) {
      const double until_hole = hole->at - (message.bytes - connection.left);
      next = std::min(next, now + time_for(std::max(0.0, until_hole), rate));
    }
  }
  ++connection.version;
  if (next != kNever) expect_at(number, next);  // otherwise it stands still
}

void FlowNetwork::solve(Duration now) {
  while (std::exchange(changed_, false)) {
    for (const int share : sharing_.solve()) {
      const int number = of_share_[static_cast<std::size_t>(share)];
      Connection& connection = at(number);
      settle(connection, now);
      connection.rate = sharing_.rate(share);
      // A window that has grown since its cap was set.
      if (connection.stream && connection.rate >= connection.cap) set_cap(connection, now);
      expect(number, now);
    }
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

std::optional<int> FlowNetwork::due(Duration now) {
  forget_stale();
  if (ends_.empty() || ends_.front().at > now) return {};
  return ends_.front().connection;
}

void FlowNetwork::happen(int number, Duration now) {
  Connection& connection = at(number);
  if (std::exchange(connection.pauses, false)) {
    ++connection.version;
    flow(number, now);
    return;
  }
  settle(connection, now);
  if (connection.left <= kGone) {
    end_message(number, now);
    return;
  }
  const Message& message = connection.messages.front();
  const Hole* hole = next_hole(message, now);
  if (hole != nullptr && message.bytes - connection.left >= hole->at - kGone) {
    pause(number, hole->filled);
    return;
  }
  if (const auto lost = connection.stream->change(seconds(now), connection.left)) {
    lose(number, *lost, now);
  }
  set_cap(connection, now);
  expect(number, now);
}

/// The first one that is not filled yet; holes are in order.
const FlowNetwork::Hole* FlowNetwork::next_hole(const Message& message, Duration now) {
  const auto found = std::find_if(message.holes.begin(), message.holes.end(),
                                  [&](const Hole& hole) { return hole.filled > now; });
  return found == message.holes.end() ? nullptr : &*found;
}

/// Until the hole in what it passes on is filled.
void FlowNetwork::pause(int number, Duration until) {
  Connection& connection = at(number);
  stop_flowing(connection);
  connection.pauses = true;
  expect_at(number, until);
}

void FlowNetwork::lose(int number, const fluid::TcpStream::Lost& lost, Duration now) {
  Connection& connection = at(number);
  Message& message = connection.messages.front();
  const Duration there = now + from_seconds(lost.again_after_s) + connection.path.travelling;
  message.repaired = std::max(message.repaired, there);
  message.lost_tail = lost.is_tail;
  if (!message.is_passed_on) return;
  holes_[message.tag].push_back({.at = message.bytes - connection.left, .filled = there});
  tell_holes(message.tag, now);
}

/// To those that pass the message on already.
void FlowNetwork::tell_holes(Tag tag, Duration now) {
  const std::vector<Hole>& holes = holes_[tag];
  const auto [first, last] = followers_.equal_range(tag);
  for (auto it = first; it != last; ++it) {
    Connection& connection = at(it->second.connection);
    for (Message& message : connection.messages) {
      if (message.tag == it->second.tag) message.holes = holes;
    }
    if (connection.messages.front().tag != it->second.tag) continue;
    if (connection.pauses) {
      const Hole* hole = next_hole(connection.messages.front(), now);
      expect_at(it->second.connection, hole == nullptr ? now : hole->filled);
    } else if (connection.share >= 0) {
      settle(connection, now);
      expect(it->second.connection, now);
    }
  }
}

/// The message that flows has left; the next one flows.
void FlowNetwork::end_message(int number, Duration now) {
  Connection& connection = at(number);
  const Message message = connection.messages.front();
  carry(connection, connection.left);
  connection.left = 0;
  stop_flowing(connection);
  connection.waits = message.behind > 0;
  if (connection.waits) return;
  connection.arrived =
      std::max({now + connection.path.travelling, message.repaired, connection.arrived});
  Arrival arrival{
      .at = connection.arrived, .number = made_++, .tag = message.tag, .connection = number};
  if (message.lost_tail && message.repaired == connection.arrived) {
    connection.tail = message.tag;
    arrival.tail_version = ++connection.tail_version;
  }
  arrivals_.push(arrival);
  connection.messages.pop_front();
  if (!connection.messages.empty()) begin(number, now);
  told_.left(message.tag, now);
}

/// What follows lets the receiver tell of the tail that it misses.
void FlowNetwork::notice_tail(int number, Duration now) {
  Connection& connection = at(number);
  const Tag tag = *std::exchange(connection.tail, std::nullopt);
  const Duration there =
      now + from_seconds(connection.stream->noticed_s()) + connection.path.travelling;
  if (there >= connection.arrived) return;
  connection.arrived = there;
  arrivals_.push({.at = there,
                  .number = made_++,
                  .tag = tag,
                  .connection = number,
                  .tail_version = ++connection.tail_version});
  const auto hole = holes_.find(tag);
  if (hole == holes_.end()) return;
  for (Hole& each : hole->second) each.filled = std::min(each.filled, there);
  tell_holes(tag, now);
}

void FlowNetwork::advance(Duration now) {
  check(now >= now_, "time does not go back");
  solve(now_);
  now_ = now;
  while (const std::optional<int> number = due(now)) happen(*number, now);
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
  if (arrival.tail_version != 0) {
    Connection& connection = at(arrival.connection);
    if (connection.tail_version != arrival.tail_version) return;  // it has come sooner
    connection.tail.reset();
  }
  holes_.erase(arrival.tag);
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
  paths_.alter(port, request);
  sharing_.set_capacity(port, paths_.capacity(port));
  changed_ = true;
  const int back = port ^ 1;  // of the same link
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = connections_[i];
    const auto crosses = [&](int other) {
      return std::find(connection.path.ports.begin(), connection.path.ports.end(), other) !=
             connection.path.ports.end();
    };
    if (!crosses(port) && !crosses(back)) continue;
    settle(connection, now);
    set_path(connection);
    if (connection.share < 0) continue;
    sharing_.set_weight(connection.share, connection.path.weight);
    set_cap(connection, now);
    expect(static_cast<int>(i), now);
  }
}

std::int64_t FlowNetwork::arrived(int number, Duration now) const {
  const Connection& connection = at(number);
  // What has left within the last `travelling` is still on its way.
  const double bytes = connection.carried + connection.rate * seconds(now - connection.since -
                                                                      connection.path.travelling);
  return std::llround(std::max(0.0, bytes) / connection.worth);
}

PortFigures FlowNetwork::figures(int port) const {
  PortFigures figures{
      .payload_bytes = payload_[static_cast<std::size_t>(port)],
      .wire_bytes = carried_[static_cast<std::size_t>(port)] / paths_.share_of_payload()};
  // When all is over there is nobody to be asked, for so many ports.
  for (std::size_t i = 0; flowing_ > 0 && i < connections_.size(); ++i) {
    const Connection& connection = connections_[i];
    const std::vector<int>& ports = connection.path.ports;
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) continue;
    const double gone =
        std::min(connection.left, connection.rate * seconds(now_ - connection.since));
    figures.payload_bytes += gone / connection.worth;
    figures.wire_bytes += gone / paths_.share_of_payload();
  }
  figures.packets = std::llround(figures.wire_bytes / paths_.frame_bytes());
  return figures;
}

}  // namespace tw::sim
