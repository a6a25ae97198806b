// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/equal_paths.h"

#include <algorithm>
#include <utility>

namespace tw::network {
namespace {

/// By which a node may pass on what is for a host.
std::vector<int> next_ports(const Network& network, int node, int host) {
  const int switch_number = node - network.hosts();
  if (switch_number < 0 || network.wiring().switch_of(host) == switch_number) {
    return {network.next_port(node, host)};
  }
  const Ways ways = network.wiring().ways(switch_number, host);
  std::vector<int> ports;
  for (int way = 0; way < ways.count; ++way) {
    const int link = network.hosts() + ways.first + way * ways.stride;
    ports.push_back(2 * link + (ways.direction == Direction::ToHost ? 1 : 0));
  }
  return ports;
}

void sort_once_each(std::vector<int>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

std::vector<std::vector<int>> equal_paths(const Network& network, int from, int to) {
  std::vector<std::vector<int>> paths{{}};
  const auto end = [&](const std::vector<int>& path) {
    return path.empty() ? from : network.end_of(path.back());
  };
  while (end(paths.front()) != to) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& path : paths) {
      for (const int port : next_ports(network, end(path), to)) {
        longer.push_back(path);
        longer.back().push_back(port);
      }
    }
    paths = std::move(longer);
  }
  return paths;
}

std::vector<std::vector<int>> equal_steps(const Network& network, int from, int to) {
  std::vector<std::vector<int>> steps;
  std::vector<int> nodes{from};
  while (nodes != std::vector<int>{to}) {
    std::vector<int> ports;
    for (const int node : nodes) {
      for (const int port : next_ports(network, node, to)) ports.push_back(port);
    }
    sort_once_each(ports);
    nodes.clear();
    for (const int port : ports) nodes.push_back(network.end_of(port));
    sort_once_each(nodes);
    steps.push_back(std::move(ports));
  }
  return steps;
}

}  // namespace tw::network
