// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/hosts.h"

#include <algorithm>
#include <map>

namespace tw::flow {

HostTable host_table(const Traffic& traffic,
                     const std::vector<std::pair<std::string, std::string>>& names) {
  const std::map<std::string, std::string> known(names.begin(), names.end());
  std::vector<bool> is_seen(traffic.addresses.size(), false);
  for (const PairCount& pair : traffic.pairs) {
    is_seen[pair.source] = is_seen[pair.destination] = true;
  }
  for (const Flow& flow : traffic.flows) {
    is_seen[flow.key.source] = is_seen[flow.key.destination] = true;
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < traffic.addresses.size(); ++i) {
    if (is_seen[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return traffic.addresses[a] < traffic.addresses[b];
  });
  HostTable table{.hosts = {}, .host_of = std::vector<int>(traffic.addresses.size(), 0)};
  std::map<std::string, std::size_t> number;
  for (const std::uint32_t address : order) {
    const std::string text = traffic.addresses[address].text();
    const auto name = known.find(text);
    const std::string& called = name == known.end() ? text : name->second;
    const auto [place, is_new] = number.try_emplace(called, table.hosts.size());
    if (is_new) table.hosts.push_back({.name = called, .addresses = {}});
    table.hosts[place->second].addresses.push_back(address);
    table.host_of[address] = static_cast<int>(place->second);
  }
  return table;
}

}  // namespace tw::flow
