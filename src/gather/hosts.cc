// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/hosts.h"

#include <algorithm>
#include <map>

namespace tw::gather {
namespace {

/// Whether it is the address of one host: no group, no broadcast, not the unspecified one.
bool is_of_one_host(const packet::Address& address) {
  if (address == packet::Address{}) return false;
  if (!address.is_v4()) return address.bytes[0] != 0xff;
  const std::uint8_t first = address.bytes[12];
  return address != packet::v4_address(0) && address != packet::v4_address(0xffffffff) &&
         (first & 0xf0) != 0xe0;
}

/// fe80::/10 and 169.254.0.0/16.
bool is_link_local(const packet::Address& address) {
  const auto& bytes = address.bytes;
  if (address.is_v4()) return bytes[12] == 169 && bytes[13] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

/// Addresses that exchanged packets with another host. One that only spoke to groups, or one of the
/// link that carried no payload (neighbour discovery, announcements), is most often a second
/// address of a machine that is known by another.
std::vector<bool> seen_hosts(const Captured& traffic) {
  std::vector<bool> is_seen(traffic.addresses.size(), false);
  const auto see = [&](std::uint32_t source, std::uint32_t destination, std::uint64_t payload) {
    for (const std::uint32_t end : {source, destination}) {
      const packet::Address& address = traffic.addresses[end];
      if (!is_of_one_host(address) || (payload == 0 && is_link_local(address))) return;
    }
    is_seen[source] = is_seen[destination] = true;
  };
  for (const flow::PairCount& pair : traffic.pairs) {
    see(pair.source, pair.destination, pair.stream_bytes);
  }
  for (const flow::Flow& flow : traffic.flows) {
    see(flow.key.source, flow.key.destination, flow.stream_bytes());
  }
  return is_seen;
}

}  // namespace

HostTable host_table(const Captured& traffic,
                     const std::vector<std::pair<std::string, std::string>>& names) {
  const std::map<std::string, std::string> known(names.begin(), names.end());
  const std::vector<bool> is_seen = seen_hosts(traffic);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < traffic.addresses.size(); ++i) {
    const bool is_named = !known.empty() && known.contains(traffic.addresses[i].text());
    if (is_seen[i] || is_named) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return traffic.addresses[a] < traffic.addresses[b];
  });
  HostTable table{.hosts = {}, .host_of = std::vector<int>(traffic.addresses.size(), kNoHost)};
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

}  // namespace tw::gather
