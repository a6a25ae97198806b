// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/packet_network.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"
#include "trainwire/medium/rdma.h"
#include "trainwire/network/plan.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::medium {
namespace {

/// Bytes by which the headers of datagrams are shorter.
constexpr int kStreamOnly = load::kTcpHeader - load::kUdpHeader;

std::vector<netsim::PortSettings> settings_of(const network::Network& network) {
  std::vector<netsim::PortSettings> all;
  for (int port = 0; port < network.ports(); ++port) {
    if (network.request(port).rate.bits_per_second() <= 0) {
      throw SpecError(
          fmt::format("network: {} has no rate; write one above 0", network.link_name(port / 2)));
    }
    all.push_back(netsim::settings_of(network, port));
  }
  return all;
}

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
  const Bytes window = network.socket_buffer->value_or(network::largest_window(network));
  if (*network.socket_buffer) options.send_buffer_bytes = (*network.socket_buffer)->count();
  options.window_bytes = window.count() * 2 / 3;  // the kernel counts memory, not payload
  options.marks = marks_any(network::Network(network));
  return options;
}

PacketNetwork::PacketNetwork(const spec::Network& network, std::uint64_t seed, Told told, Seen seen)
    : asked_(network),
      network_(network),
      options_(tcp_options(network)),
      told_(std::move(told)),
      net_(settings_of(network_), seed,
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
    const Connection& connection = at(of_net_[static_cast<std::size_t>(packet.connection)]);
    seen(packet, connection.from, connection.to, out, now);
  };
}

int PacketNetwork::connect(int from, int to, const Sending& sending) {
  const auto number = static_cast<int>(connections_.size());
  Connection& connection = connections_.emplace_back();
  connection.from = from;
  connection.to = to;
  if (from == to) return number;
  const std::vector<int> there = network_.path(from, to);
  for (const int port : there) connection.way += network_.request(port).delay;
  of_net_.push_back(number);
  if (sending.manner == Manner::Datagrams) {
    connection.number = net_.connect(there, {.payload_bytes = options_.segment_bytes + kStreamOnly,
                                             .header_bytes = options_.header_bytes - kStreamOnly,
                                             .pace = *sending.pace});
    return number;
  }
  if (sending.manner == Manner::Rdma) {
    connection.number = net_.connect_rdma(
        there, network_.path(to, from), rdma_options(asked_, network_.request(there.front()).rate));
    return number;
  }
  netsim::TcpOptions options = options_;
  options.train_segments = std::max(
      1, static_cast<int>(network::largest_segment(network_.request(there.front()).rate).count() /
                          options.segment_bytes));
  if (sending.pace) options.pace = sending.pace->bits_per_second() / 8 / options.segment_bytes;
  connection.number = net_.connect(there, network_.path(to, from), options);
  return number;
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
