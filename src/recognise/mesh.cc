// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/mesh.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::uint8_t kTcp = 6;

using Pair = std::pair<int, int>;

/// TCP flows from host to host, those that were only counted included.
std::map<Pair, std::uint64_t> flows_between(const gather::Captured& traffic,
                                            const std::vector<int>& host_of) {
  std::map<Pair, std::uint64_t> count;
  for (const flow::Flow& flow : traffic.flows) {
    if (flow.key.protocol != kTcp || flow.cross) continue;
    ++count[{host_of[flow.key.source], host_of[flow.key.destination]}];
  }
  for (const flow::PairCount& pair : traffic.pairs) {
    if (pair.retired_flows == 0) continue;
    count[{host_of[pair.source], host_of[pair.destination]}] += pair.retired_flows;
  }
  return count;
}

}  // namespace

int ranks_by_mesh(const gather::Captured& traffic, const std::vector<int>& host_of,
                  const std::vector<int>& hosts) {
  if (hosts.size() < 3) return 1;
  const std::map<Pair, std::uint64_t> flows = flows_between(traffic, host_of);
  const auto one_way = [&](int from, int to) {
    const auto found = flows.find({from, to});
    return found == flows.end() ? 0 : found->second;
  };
  std::vector<std::uint64_t> connections;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t j = i + 1; j < hosts.size(); ++j) {
      connections.push_back(std::min(one_way(hosts[i], hosts[j]), one_way(hosts[j], hosts[i])));
    }
  }
  const std::uint64_t fewest = *std::min_element(connections.begin(), connections.end());
  const auto ranks =
      static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(fewest))));
  const auto without_one = static_cast<std::ptrdiff_t>((hosts.size() - 1) * (hosts.size() - 2) / 2);
  const bool is_mesh = ranks * ranks == fewest &&
                       std::count(connections.begin(), connections.end(), fewest) >= without_one;
  return is_mesh ? std::max(1, static_cast<int>(ranks)) : 1;
}

}  // namespace tw::recognise
