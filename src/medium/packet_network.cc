// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/packet_network.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"
#include "trainwire/medium/port_settings.h"
#include "trainwire/medium/rdma.h"
#include "trainwire/medium/socket_window.h"
#include "trainwire/network/equal_paths.h"
#include "trainwire/network/plan.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace tw::medium {
namespace {

/// Bytes by which the headers of datagrams are shorter.
constexpr int kStreamOnly = load::kTcpHeader - load::kUdpHeader;

bool marks_any(const network::Network& network) {
  for (int port = 0; port < network.ports(); ++port) {
    if (network.request(port).ecn) return true;
  }
  return false;
}

}  // namespace

netsim::TcpOptions tcp_options(const spec::Network& network) {
  const int headers = load::ip_header(*network.ip_version) + load::kTcpHeader;
  netsim::TcpOptions options{.congestion_control = *network.congestion_control,
                             .segment_bytes = *network.mtu - headers,
                             .header_bytes = headers + load::kEthernetHeader};
  options.window_bytes = network::largest_window(network).count() * 2 / 3;  // by memory, too
  if (const std::optional<Bytes>& buffer = *network.socket_buffer) {
    options.send_buffer_bytes = buffer->count();
    const double window = kWindowOfBuffer * static_cast<double>(buffer->count());
    options.window_bytes = options.segment_bytes *
                           static_cast<std::int64_t>(std::ceil(window / options.segment_bytes));
  }
  options.marks =
      *network.ecn_action == spec::EarlyAction::Mark && marks_any(network::Network(network));
  return options;
}

PacketNetwork::PacketNetwork(const spec::Network& network, std::uint64_t seed, Told told, Seen seen)
    : asked_(network),
      network_(network),
      options_(tcp_options(network)),
      routes_(network, seed),
      told_(std::move(told)),
      net_(port_settings(network, network_), seed,
           {.left = [this](Tag tag, netsim::Time now) { tell_left(tag, netsim::duration_of(now)); },
            .came =
                [this](Tag tag, netsim::Time now) {
                  came(travelling_.at(tag), tag, netsim::duration_of(now));
                },
            .progressed = [this](int connection, std::int64_t bytes,
                                 netsim::Time now) { progressed(connection, bytes, now); },
            .seen = seen_by(std::move(seen))}) {
  netsim::make_congestion(options_.congestion_control);  // refuses what is not known
}

std::function<void(const netsim::Packet&, bool, netsim::Time)> PacketNetwork::seen_by(Seen seen) {
  if (!seen) return {};
  return [this, seen = std::move(seen)](const netsim::Packet& packet, bool out, netsim::Time now) {
    const int number = of_net_[static_cast<std::size_t>(packet.connection)];
    const Connection& connection = at(number);
    seen({.packet = packet,
          .conversation = connection.answers.value_or(number),
          .is_answer = connection.answers.has_value(),
          .from = connection.from,
          .to = connection.to,
          .out = out,
          .at = now});
  };
}

int PacketNetwork::connect(int from, int to, const Sending& sending) {
  const auto number = static_cast<int>(connections_.size());
  Connection& connection = connections_.emplace_back();
  connection.from = from;
  connection.to = to;
  connection.answers = sending.answers;
  connection.is_read_in_turn = sending.is_read_in_turn && sending.manner == Manner::Stream;
  if (from == to) return number;
  const network::Flow flow = routes_.next_flow(from, to);
  double line = std::numeric_limits<double>::infinity();
  for (const int port : routes_.ports(flow)) {
    connection.way += network_.request(port).delay;
    line = std::min(line, network_.request(port).rate.bits_per_second() / 8);
  }
  connection.room = static_cast<std::int64_t>(std::min(
      static_cast<double>(options_.window_bytes), unread_bytes(line, 2 * seconds(connection.way))));
  of_net_.push_back(number);
  connection.number = connect_in_net(flow, sending);
  if (routes_.sprays()) {
    const bool answers = sending.manner != Manner::Datagrams;
    net_.spray(connection.number, sprayed(from, to),
               answers ? sprayed(to, from) : netsim::Sprayed{});
  }
  return number;
}

/// All ways between two hosts.
const netsim::Sprayed& PacketNetwork::sprayed(int from, int to) {
  netsim::Sprayed& ways = sprayed_[{from, to}];
  if (!ways) {
    ways = std::make_shared<const std::vector<std::vector<int>>>(
        network::equal_paths(network_, from, to));
  }
  return ways;
}

/// How much longer a packet may take on one of several ways than on another: a full queue.
Duration PacketNetwork::longest_wait(const std::vector<std::vector<int>>& paths) const {
  Duration longest = {};
  for (const std::vector<int>& path : paths) {
    for (const int port : path) {
      longest = std::max(longest, network_.request(port).queue / network_.request(port).rate);
    }
  }
  return longest;
}

int PacketNetwork::connect_in_net(const network::Flow& flow, const Sending& sending) {
  const std::vector<int> there = routes_.ports(flow);
  const std::vector<int> back = routes_.ports(Routes::back(flow));
  const BitRate line = network_.request(there.front()).rate;
  if (sending.manner == Manner::Datagrams) {
    return net_.connect(there, {.payload_bytes = options_.segment_bytes + kStreamOnly,
                                .header_bytes = options_.header_bytes - kStreamOnly,
                                .pace = *sending.pace,
                                .priority = sending.priority});
  }
  if (sending.manner == Manner::Rdma) {
    rdma::Options options = rdma_options(asked_, sending, line);
    if (routes_.sprays()) options.reordering = longest_wait(*sprayed(flow.from, flow.to));
    return net_.connect_rdma(there, back, options);
  }
  netsim::TcpOptions options = options_;
  options.train_segments =
      std::max(1, static_cast<int>(network::largest_segment(line).count() / options.segment_bytes));
  options.priority = sending.priority;
  options.reordered = routes_.sprays();
  if (!sending.congestion_control.empty()) options.congestion_control = sending.congestion_control;
  if (sending.pace) options.program_bytes_per_s = sending.pace->bits_per_second() / 8;
  return net_.connect(there, back, options);
}

void PacketNetwork::begin_step(int number, std::int64_t bytes) {
  if (at(number).number >= 0) net_.begin_step(at(number).number, bytes);
}

void PacketNetwork::close(int number, Duration) {
  if (at(number).number >= 0) net_.close(at(number).number);
}

void PacketNetwork::alter(int port, const network::Request& request, Duration now) {
  netsim::PortSettings settings = net_.port(port).settings();
  settings.rate = request.rate;
  settings.delay = request.delay;
  settings.jitter = request.jitter;
  settings.loss = request.loss;
  settings.loss_burst = request.loss_burst;
  net_.alter(port, std::move(settings), netsim::time_of(now));
}

std::int64_t PacketNetwork::arrived(int number, Duration) const {
  return at(number).number < 0 ? 0 : net_.received(at(number).number);
}

PortFigures PacketNetwork::figures(int port) const {
  const netsim::PortCounts& counts = net_.port(port).counts();
  // What waits has not been carried; it is taken for data, as nearly all of it is.
  const double waiting = net_.port(port).waiting_bytes(netsim::time_of(now_));
  const double frame = options_.segment_bytes + options_.header_bytes;
  return {.payload_bytes = std::max(0.0, static_cast<double>(counts.payload_bytes) -
                                             waiting * options_.segment_bytes / frame),
          .wire_bytes = static_cast<double>(counts.wire_bytes) - waiting,
          .packets = counts.packets,
          .lost = counts.lost,
          .dropped = counts.dropped,
          .marked = counts.marked,
          .deepest_bytes = counts.deepest_bytes,
          .paused = netsim::duration_of(counts.paused)};
}

}  // namespace tw::medium
