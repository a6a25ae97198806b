// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/flow_network.h"

#include "trainwire/base/error.h"

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

/// The first nanosecond at which `left` bytes have gone.
Duration time_for(double left, double rate) {
  return Duration(static_cast<std::int64_t>(std::ceil(left / rate * 1e9)));
}

}  // namespace

double payload_share(const spec::Network& network) {
  const int headers = *network.ip_version == 6 ? kHeaders6 : kHeaders4;
  return static_cast<double>(*network.mtu - headers) / (*network.mtu + kEthernetHeader);
}

FlowNetwork::FlowNetwork(const spec::Network& network)
    : network_(network),
      frame_bytes_(*network.mtu + kEthernetHeader),
      sharing_(capacities(network_, payload_share(network))),
      carried_(static_cast<std::size_t>(network_.ports())) {}

const FlowNetwork::Path& FlowNetwork::path(int from, int to) {
  const auto [found, is_new] = paths_.try_emplace({from, to});
  if (!is_new) return found->second;
  Path& path = found->second;
  path.ports = network_.path(from, to);
  for (std::size_t i = 0; i < path.ports.size(); ++i) {
    const network::Request& request = network_.request(path.ports[i]);
    path.travelling += request.delay;
    if (i > 0) path.travelling += Bytes(frame_bytes_) / request.rate;
  }
  return path;
}

Duration FlowNetwork::travelling(int from, int to) {
  return from == to ? Duration(0) : path(from, to).travelling;
}

int FlowNetwork::send(int from, int to, std::int64_t bytes, Duration now) {
  check(now >= now_, "time does not go back");
  now_ = now;
  if (free_.empty()) {
    free_.push_back(static_cast<int>(flows_.size()));
    flows_.emplace_back();
  }
  const int number = free_.back();
  free_.pop_back();
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  flow = {.left = static_cast<double>(bytes), .since = now, .version = flow.version + 1};
  if (bytes > 0 && from != to) {
    flow.path = path(from, to).ports;
    flow.share = sharing_.add(flow.path);
    of_share_.resize(std::max(of_share_.size(), static_cast<std::size_t>(flow.share) + 1));
    of_share_[static_cast<std::size_t>(flow.share)] = number;
    changed_ = true;
  } else {
    flow.left = 0;
    expect(number, now);
  }
  return number;
}

/// What has gone until now is accounted for.
void FlowNetwork::settle(Flow& flow, Duration now) {
  const double gone = std::min(flow.left, flow.rate * seconds(now - flow.since));
  flow.left -= gone;
  flow.since = now;
  for (const int port : flow.path) carried_[static_cast<std::size_t>(port)] += gone;
}

void FlowNetwork::expect(int number, Duration now) {
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  ++flow.version;
  if (flow.left > 0 && flow.rate <= 0) return;  // it stands still
  const Duration at = flow.left > 0 ? now + time_for(flow.left, flow.rate) : now;
  ends_.push_back({.at = at, .flow = number, .version = flow.version});
  std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
}

void FlowNetwork::solve(Duration now) {
  if (!std::exchange(changed_, false)) return;
  for (const int share : sharing_.solve()) {
    const int number = of_share_[static_cast<std::size_t>(share)];
    Flow& flow = flows_[static_cast<std::size_t>(number)];
    settle(flow, now);
    flow.rate = sharing_.rate(share);
    expect(number, now);
  }
}

std::optional<Duration> FlowNetwork::next_end() {
  solve(now_);
  while (!ends_.empty() &&
         ends_.front().version != flows_[static_cast<std::size_t>(ends_.front().flow)].version) {
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
    ends_.pop_back();
  }
  if (ends_.empty()) return {};
  return ends_.front().at;
}

std::optional<int> FlowNetwork::ended(Duration now) {
  check(now >= now_, "time does not go back");
  const auto next = next_end();
  now_ = now;
  if (!next || *next > now) return {};
  const int number = ends_.front().flow;
  Flow& flow = flows_[static_cast<std::size_t>(number)];
  for (const int port : flow.path) carried_[static_cast<std::size_t>(port)] += flow.left;
  if (flow.share >= 0) {
    sharing_.remove(flow.share);
    changed_ = true;
  }
  flow = {.version = flow.version + 1};
  free_.push_back(number);
  return number;
}

double FlowNetwork::carried(int port, Duration now) const {
  double sum = carried_[static_cast<std::size_t>(port)];
  for (const Flow& flow : flows_) {
    if (std::find(flow.path.begin(), flow.path.end(), port) == flow.path.end()) continue;
    sum += std::min(flow.left, flow.rate * seconds(now - flow.since));
  }
  return sum;
}

}  // namespace tw::sim
