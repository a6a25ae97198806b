// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/flow_paths.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"
#include "trainwire/medium/lost_trains.h"
#include "trainwire/medium/socket_window.h"
#include "trainwire/network/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tw::medium {
namespace {

/// How full the queue before a slow line is, seen by round trips that compete (measured).
constexpr double kUsualQueue = 0.5;
/// What a sender's buffer holds at first, and what the memory of its packets has more than bytes.
constexpr double kFirstBuffer = 128 << 10;
constexpr double kMemoryPerByte = 1.2;
/// How much of its rate a sender keeps in its host's queue, if that is more than two trains.
constexpr double kKept_s = 1e-3 / kMemoryPerByte;
constexpr double kHalvesTrain_s = 512e-6;  ///< tcp_tso_rtt_log
/// Weights of streams are below 1: the round trip of which it would be 1.
constexpr double kShortest_s = 1e-6;

/// What the kernel chooses without a given size is more than any path needs (network/plan.h).
double largest_window(const spec::Network& network) {
  const std::optional<Bytes>& buffer = *network.socket_buffer;
  if (!buffer) return std::numeric_limits<double>::infinity();
  return kWindowOfBuffer * static_cast<double>(buffer->count());
}

}  // namespace

double payload_share(const spec::Network& network) {
  return load::payload_share(spec::TrafficKind::Long,
                             {.mtu = *network.mtu, .ip_version = *network.ip_version});
}

FlowPaths::FlowPaths(const spec::Network& network, std::uint64_t seed)
    : network_(network),
      routes_(network, seed),
      loses_trains_(*network.loss_unit == spec::LossUnit::Train),
      payload_share_(payload_share(network)),
      frame_bytes_(*network.mtu + load::kEthernetHeader),
      stack_(fluid::stack_of(*network.congestion_control)),
      largest_window_(largest_window(network)),
      buffer_bytes_((*network.socket_buffer ? static_cast<double>((*network.socket_buffer)->count())
                                            : kFirstBuffer) /
                    kMemoryPerByte) {}

network::Request FlowPaths::request(int port) const {
  const auto own = [this](int each) {
    const auto altered = altered_.find(each);
    return altered == altered_.end() ? network_.request(each) : altered->second;
  };
  if (parts(port) <= 1) return own(port);
  std::vector<network::Request> group;
  for (const int each : routes_.group(port)) group.push_back(own(each));
  return together(group, frame_bytes_);
}

double FlowPaths::capacity(int port) const {
  return payload_share_ * request(port).rate.bits_per_second() / 8;
}

std::vector<double> FlowPaths::capacities() const {
  std::vector<double> bytes_per_second;
  for (int port = 0; port < network_.ports(); ++port) {
    if (capacity(port) <= 0) {
      throw SpecError(
          fmt::format("network: {} has no rate; write one above 0", network_.link_name(port / 2)));
    }
    bytes_per_second.push_back(capacity(port));
  }
  return bytes_per_second;
}

double FlowPaths::round_trip_s(const std::vector<int>& there, const std::vector<int>& back) const {
  double s = 0;
  for (const int port : there) {
    s += seconds(request(port).delay);
    if (capacity(port) > 0) s += frame_bytes_ * payload_share_ / capacity(port);
  }
  for (const int port : back) s += seconds(request(port).delay);
  return s;
}

/// What a host sends at once: a millisecond of its pace, and what a card takes, halved for each 512 us
/// of the round trip (Linux's tcp_tso_autosize).
double FlowPaths::train_bytes(int port, double pace, double rtt_s) const {
  const double segment = payload_share_ * frame_bytes_;
  const double longest = std::floor(
      static_cast<double>(network::largest_segment(request(port).rate).count()) / segment);
  if (longest <= 2) return segment * std::max(1.0, longest);
  const double near = longest * std::exp2(-std::floor(rtt_s / kHalvesTrain_s));
  return segment * std::clamp(std::floor(pace / segment * 1e-3 + near), 2.0, longest);
}

double FlowPaths::kept_in_host(int port, double pace, double rtt_s) const {
  return std::max(2 * train_bytes(port, pace, rtt_s), kKept_s * pace);
}

FlowPath FlowPaths::path(const network::Flow& flow) {
  FlowPath path{.ports = routes_.ports(flow)};
  if (path.ports.empty()) return path;
  fluid::TcpPath& tcp = path.tcp;
  tcp.stack = stack_;
  tcp.segment_bytes = payload_share_ * frame_bytes_;
  tcp.largest_window = largest_window_;
  tcp.buffer_bytes = buffer_bytes_;
  double comes = 1;
  // Of queues that streams of other hosts may fill as well: all wait there alike, also one whose own
  // line, or another further on, is slower.
  double shared_wait_s = path.ports.size() > 1 ? std::numeric_limits<double>::infinity() : 0;
  for (const int port : path.ports) {
    const network::Request asked = request(port);
    const bool is_first = port == path.ports.front();
    path.travelling += asked.delay;
    // A line that is down has no time for a frame.
    const Duration frame = asked.rate > BitRate() ? Bytes(frame_bytes_) / asked.rate : Duration{};
    (is_first ? path.first : path.travelling) += frame;
    if (capacity(port) <= tcp.line) {
      tcp.line = capacity(port);
      tcp.queue_bytes = payload_share_ * static_cast<double>(asked.queue.count());
    }
    if (!is_first && asked.rate > BitRate()) {
      shared_wait_s = std::min(shared_wait_s, seconds(asked.queue / asked.rate));
    }
    comes *= 1 - asked.loss;
    if (asked.loss > 0) tcp.loss_burst = std::max(tcp.loss_burst, asked.loss_burst);
  }
  tcp.loss = 1 - comes;
  const std::vector<int> back = routes_.ports(Routes::back(flow));
  path.back = back.front();
  double answered = 1;
  for (const int port : back) answered *= 1 - request(port).loss;
  tcp.back_loss = 1 - answered;
  tcp.rtt_s = round_trip_s(path.ports, back);
  const auto largest =
      static_cast<double>(network::largest_segment(request(path.ports.front()).rate).count());
  const double train = std::max(1.0, std::floor(largest / tcp.segment_bytes));
  tcp.train_bytes = train * tcp.segment_bytes;
  if (loses_trains_ && tcp.loss > 0) tcp.loss_burst *= mean_train(tcp, train);
  if (!std::isfinite(shared_wait_s)) shared_wait_s = 0;  // all lines are down
  path.weight = kShortest_s / std::max(kShortest_s, tcp.rtt_s + kUsualQueue * shared_wait_s);
  return path;
}

}  // namespace tw::medium
