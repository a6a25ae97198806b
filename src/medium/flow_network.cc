// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/flow_network.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"
#include "trainwire/medium/rdma.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace tw::medium {
namespace {

constexpr std::string_view kMltcp = "mltcp";

double datagram_share(const spec::Network& network) {
  return load::payload_share(spec::TrafficKind::Constant,
                             {.mtu = *network.mtu, .ip_version = *network.ip_version});
}

}  // namespace

FlowNetwork::FlowNetwork(const spec::Network& network, Told told, const FlowOptions& options)
    : paths_(network, options.seed),
      told_(std::move(told)),
      options_(options),
      luck_(options.seed, "shares of messages"),
      datagram_worth_(paths_.share_of_payload() / datagram_share(network)),
      rdma_worth_(paths_.share_of_payload() / rdma_share(network)),
      weighs_steps_(*network.congestion_control == kMltcp),
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
  FlowConnection& connection = at(number);
  connection = {.from = from,
                .to = to,
                .flow = paths_.next_flow(from, to),
                .manner = sending.manner,
                .is_read_in_turn = sending.is_read_in_turn,
                .priority = sending.priority,
                .weighs_steps = weighs_steps_,
                .worth = worth_of(sending.manner),
                .uneven = sending.uneven && options_.tcp,
                .version = connection.version + 1};
  if (const std::string& control = sending.congestion_control; !control.empty()) {
    connection.stack = fluid::stack_of(control);
    connection.weighs_steps = control == kMltcp;
  }
  set_path(connection);
  if (sending.pace) connection.pace = connection.worth * sending.pace->bits_per_second() / 8;
  return number;
}

/// As ports are now.
void FlowNetwork::set_path(FlowConnection& connection) {
  if (connection.group >= 0) return set_group_path(connection);
  connection.path = paths_.path(connection.flow);
  if (connection.stack) connection.path.tcp.stack = *connection.stack;
  if (paths_.sprays()) {
    for (const int port : connection.path.ports) sharing_.set_capacity(port, paths_.capacity(port));
    changed_ = true;
  }
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
  FlowConnection& connection = at(number);
  settle(connection, now);
  connection.left = 0;
  connection.messages.clear();
  connection.taken = 0;
  stop_flowing(connection);
  closed_.push_back(number);
}

std::optional<Duration> FlowNetwork::next() {
  solve(now_);
  forget_stale();
  std::optional<Duration> next;
  if (!ends_.empty()) next = ends_.front().at;
  if (!arrivals_.empty() && (!next || arrivals_.top().at < *next)) next = arrivals_.top().at;
  return next;
}

void FlowNetwork::advance(Duration now) {
  check(now >= now_, "time does not go back");
  solve(now_);
  now_ = now;
  while (const std::optional<int> number = due(now)) happen(*number, now);
  while (!arrivals_.empty() && arrivals_.top().at <= now) {
    const FlowArrival arrival = arrivals_.top();
    arrivals_.pop();
    arrive(arrival, now);
  }
}

void FlowNetwork::alter(int port, const network::Request& request, Duration now) {
  check(now >= now_, "time does not go back");
  solve(now_);
  now_ = now;
  paths_.alter(port, request);
  const int back = paths_.stands_for(port ^ 1);  // of the same link
  port = paths_.stands_for(port);
  sharing_.set_capacity(port, paths_.capacity(port));
  changed_ = true;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    FlowConnection& connection = connections_[i];
    const auto crosses = [&](int other) {
      return std::find(connection.path.ports.begin(), connection.path.ports.end(), other) !=
             connection.path.ports.end();
    };
    if (!crosses(port) && !crosses(back)) continue;
    settle(connection, now);
    set_path(connection);
    if (connection.share < 0) continue;
    connection.weight = weight_of(connection);
    sharing_.set_weight(connection.share, connection.weight);
    set_cap(connection, now);
    expect(static_cast<int>(i), now);
  }
  share_slots(now);
}

std::int64_t FlowNetwork::arrived(int number, Duration now) const {
  const FlowConnection& connection = at(number);
  // What has left within the last `travelling` is still on its way.
  const double since =
      connection.rate * seconds(now - connection.since - connection.path.travelling);
  return std::llround(std::max(0.0, connection.payload + since / connection.worth));
}

PortFigures FlowNetwork::figures(int port) const {
  port = paths_.stands_for(port);
  PortFigures figures{
      .payload_bytes = payload_[static_cast<std::size_t>(port)],
      .wire_bytes = carried_[static_cast<std::size_t>(port)] / paths_.share_of_payload()};
  // When all is over there is nobody to be asked, for so many ports.
  for (std::size_t i = 0; flowing_ > 0 && i < connections_.size(); ++i) {
    const FlowConnection& connection = connections_[i];
    const std::vector<int>& ports = connection.path.ports;
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) continue;
    const double gone =
        std::min(connection.left, connection.rate * seconds(now_ - connection.since));
    figures.payload_bytes += gone / connection.worth;
    figures.wire_bytes += gone / paths_.share_of_payload();
  }
  figures.payload_bytes /= paths_.parts(port);
  figures.wire_bytes /= paths_.parts(port);
  figures.packets = std::llround(figures.wire_bytes / paths_.frame_bytes());
  return figures;
}

}  // namespace tw::medium
