// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/routes.h"

#include "trainwire/network/equal_paths.h"

#include <algorithm>
#include <utility>

namespace tw::medium {
namespace {

constexpr std::uint16_t kFirstPort = 49152;  ///< of those that systems hand out
constexpr std::uint16_t kPorts = 16384;
constexpr std::uint16_t kListening = 5201;

}  // namespace

Routes::Routes(const spec::Network& asked, std::uint64_t seed)
    : network_(asked), paths_(*asked.paths), seed_(seed) {}

network::Flow Routes::next_flow(int from, int to) {
  network::Flow flow{.from = from, .to = to, .destination_port = kListening};
  if (paths_ != spec::Paths::Flow) return flow;
  const std::uint64_t both = static_cast<std::uint64_t>(from) << 32U | static_cast<unsigned>(to);
  const int number = flows_[both]++ % kPorts;
  flow.source_port = static_cast<std::uint16_t>(kFirstPort + number);
  return flow;
}

network::Flow Routes::back(const network::Flow& flow) {
  return {.from = flow.to,
          .to = flow.from,
          .source_port = flow.destination_port,
          .destination_port = flow.source_port};
}

std::vector<int> Routes::ports(const network::Flow& flow) {
  if (paths_ == spec::Paths::Destination) return network_.path(flow.from, flow.to);
  if (paths_ == spec::Paths::Flow) {
    return network_.path(flow.from, flow.to, network::flow_hash(flow, seed_));
  }
  std::vector<int> standing;
  for (std::vector<int>& step : network::equal_steps(network_, flow.from, flow.to)) {
    const int first = step.front();
    standing.push_back(first);
    if (step.size() == 1 || groups_.contains(first)) continue;
    for (const int port : step) stands_for_[port] = first;
    groups_[first] = std::move(step);
  }
  return standing;
}

int Routes::stands_for(int port) const {
  const auto found = stands_for_.find(port);
  return found == stands_for_.end() ? port : found->second;
}

const std::vector<int>& Routes::group(int port) const {
  static const std::vector<int> alone;
  const auto found = groups_.find(port);
  return found == groups_.end() ? alone : found->second;
}

network::Request together(const std::vector<network::Request>& ports, int frame_bytes) {
  network::Request all = ports.front();
  double lost = 0;
  for (const network::Request& port : ports) {
    all.rate = std::min(all.rate, port.rate);
    all.queue = std::min(all.queue, port.queue);
    all.delay = std::max(all.delay, port.delay);
    all.loss_burst = std::max(all.loss_burst, port.loss_burst);
    lost += port.loss;
  }
  const auto count = static_cast<double>(ports.size());
  all.loss = lost / count;
  const BitRate one = all.rate;
  all.rate = BitRate(count * one.bits_per_second());
  all.queue = Bytes(static_cast<std::int64_t>(ports.size()) * all.queue.count());
  if (one > BitRate()) all.delay += Bytes(frame_bytes) / one - Bytes(frame_bytes) / all.rate;
  return all;
}

}  // namespace tw::medium
