// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/packet_network.h"

#include "trainwire/base/error.h"
#include "trainwire/network/plan.h"
#include "trainwire/sim/rdma.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::sim {
namespace {

constexpr int kEthernetHeader = 14;
constexpr int kHeaders4 = 52;  ///< IPv4, TCP and its timestamps
constexpr int kHeaders6 = 72;
constexpr int kStreamOnly = 24;  ///< bytes by which the headers of datagrams are shorter

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

/// While it lives, somebody calls.
class Calling {
 public:
  explicit Calling(bool& is_calling) : is_calling_(is_calling) { is_calling_ = true; }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
  ~Calling() { is_calling_ = false; }

 private:
  bool& is_calling_;
};

bool marks_any(const network::Network& network) {
  for (int port = 0; port < network.ports(); ++port) {
    if (network.request(port).ecn) return true;
  }
  return false;
}

}  // namespace

netsim::TcpOptions tcp_options(const spec::Network& network) {
  const int headers = *network.ip_version == 6 ? kHeaders6 : kHeaders4;
  netsim::TcpOptions options{.congestion_control = *network.congestion_control,
                             .segment_bytes = *network.mtu - headers,
                             .header_bytes = headers + kEthernetHeader};
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

void PacketNetwork::send_bare(int number, Tag tag, Duration now) {
  bare_.push({.at = now + at(number).way, .number = made_++, .connection = number, .tag = tag});
  tell_left(tag, now);
}

/// Who sends is told when it has done so, not while it does.
void PacketNetwork::tell_left(Tag tag, Duration now) {
  if (is_sending_) {
    left_.emplace_back(now, tag);
  } else {
    told_.left(tag, now);
  }
}

/// A message is there, and so are those behind it that only waited for it.
void PacketNetwork::came(int number, Tag tag, Duration now) {
  Connection& connection = at(number);
  travelling_.erase(tag);
  if (!connection.coming.empty() && connection.coming.front().tag == tag) {
    const Coming whole = std::move(connection.coming.front());
    connection.coming.pop_front();
    pass_on(whole, 1, netsim::time_of(now));
  }
  const auto found = std::find_if(connection.expected.begin(), connection.expected.end(),
                                  [&](const Expected& one) { return one.tag == tag; });
  found->is_there = true;
  while (!connection.expected.empty() && connection.expected.front().is_there) {
    const Tag first = connection.expected.front().tag;
    connection.expected.pop_front();
    told_.came(first, now);
  }
}

void PacketNetwork::send(int number, std::int64_t bytes, Tag tag, Duration now) {
  Connection& connection = at(number);
  connection.expected.push_back({.tag = tag});
  if (bytes == 0 || connection.number < 0) {
    const Calling calling(is_sending_);
    return send_bare(number, tag, now);
  }
  travelling_[tag] = number;
  connection.written += bytes;
  const Calling calling(is_sending_);
  net_.send(connection.number, bytes, bytes, tag, netsim::time_of(now));
}

void PacketNetwork::send_on(int number, std::int64_t bytes, Tag tag, std::span<const Tag> behind,
                            Duration now) {
  Connection& connection = at(number);
  connection.expected.push_back({.tag = tag});
  connection.passing = {.bytes = bytes};
  for (const Tag source : behind) {
    const auto found = travelling_.find(source);
    if (found == travelling_.end()) continue;  // all of it is there
    std::deque<Coming>& all = at(found->second).coming;
    const auto coming =
        std::find_if(all.begin(), all.end(), [&](const Coming& one) { return one.tag == source; });
    if (coming == all.end()) continue;
    coming->followers.emplace_back(number, connection.passing.shares.size());
    connection.passing.shares.push_back(static_cast<double>(coming->there) /
                                        static_cast<double>(coming->bytes));
  }
  if (bytes == 0 || connection.number < 0) {
    const Calling calling(is_sending_);
    if (connection.passing.shares.empty()) return send_bare(number, tag, now);
    connection.passing.bare = tag;
    return;
  }
  travelling_[tag] = number;
  if (told_.began) {
    net_.follow(connection.number);
    connection.coming.push_back({.tag = tag, .begin = connection.written, .bytes = bytes});
  }
  connection.written += bytes;
  connection.passing.allowed = allowed_of(connection.passing);
  const Calling calling(is_sending_);
  net_.send(connection.number, bytes, connection.passing.allowed, tag, netsim::time_of(now));
}

std::int64_t PacketNetwork::allowed_of(const Passing& passing) {
  double share = 1;
  for (const double one : passing.shares) share = std::min(share, one);
  return share >= 1 ? passing.bytes
                    : static_cast<std::int64_t>(share * static_cast<double>(passing.bytes));
}

/// More bytes of a connection are there: a message begins, and others pass on what is there of it.
void PacketNetwork::progressed(int net_connection, std::int64_t bytes, netsim::Time now) {
  Connection& connection = at(of_net_[static_cast<std::size_t>(net_connection)]);
  if (connection.coming.empty() || connection.coming.front().begin >= bytes) return;
  Coming& coming = connection.coming.front();
  coming.there = bytes - coming.begin;
  if (!std::exchange(coming.begun, true)) told_.began(coming.tag, netsim::duration_of(now));
  pass_on(coming, static_cast<double>(coming.there) / static_cast<double>(coming.bytes), now);
}

/// Who follows may bring others to follow.
void PacketNetwork::pass_on(const Coming& coming, double share, netsim::Time now) {
  for (std::size_t i = 0; i < coming.followers.size(); ++i) {
    allow(coming.followers[i].first, coming.followers[i].second, share, now);
  }
}

void PacketNetwork::allow(int number, std::size_t source, double share, netsim::Time now) {
  Connection& connection = at(number);
  connection.passing.shares[source] = share;
  if (connection.passing.bare) {
    const auto is_whole = [](double one) { return one >= 1; };
    const auto& shares = connection.passing.shares;
    if (!std::all_of(shares.begin(), shares.end(), is_whole)) return;
    return send_bare(number, *std::exchange(connection.passing.bare, {}), netsim::duration_of(now));
  }
  const std::int64_t allowed = allowed_of(connection.passing);
  const std::int64_t more = allowed - std::exchange(connection.passing.allowed, allowed);
  if (more > 0) net_.allow(connection.number, more, now);
}

std::optional<Duration> PacketNetwork::next() {
  const netsim::Time in_net = net_.next();
  std::optional<Duration> next;
  if (!left_.empty()) return left_.front().first;
  if (in_net != netsim::kNever) next = netsim::duration_of(in_net);
  if (!bare_.empty() && (!next || bare_.top().at < *next)) next = bare_.top().at;
  return next;
}

void PacketNetwork::advance(Duration now) {
  now_ = now;
  tell_those_that_left(now);
  net_.advance(netsim::time_of(now));
  while (!bare_.empty() && bare_.top().at <= now) {
    // Nothing comes before it is told that it left.
    tell_those_that_left(now);
    const Arrival arrival = bare_.top();
    bare_.pop();
    came(arrival.connection, arrival.tag, now);
  }
}

void PacketNetwork::tell_those_that_left(Duration now) {
  while (!left_.empty()) {
    const Tag tag = left_.front().second;
    left_.pop_front();
    told_.left(tag, now);
  }
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

}  // namespace tw::sim
