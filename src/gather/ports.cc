// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/ports.h"

#include "trainwire/flow/same_senders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace tw::gather {
namespace {

constexpr double kNearlyAll = 0.95;  ///< of TCP's payload
constexpr double kMajor = 0.01;      ///< of the largest flow: smaller ones are words between ranks
/// Of addresses that are given here: unique local ones (RFC 4193).
constexpr std::array<std::uint8_t, 4> kPrefix{0xfd, 0x74, 0x77, 0x70};

using Port = std::uint16_t;

/// The address that nearly all payload is from and to.
std::optional<std::uint32_t> shared_address(const Captured& traffic) {
  std::map<std::uint32_t, double> within;
  double all = 0;
  for (const flow::Flow& flow : traffic.flows) {
    const auto bytes = static_cast<double>(flow.stream_bytes());
    all += bytes;
    if (flow.key.is_tcp() && flow.key.source == flow.key.destination)
      within[flow.key.source] += bytes;
  }
  for (const auto& [address, bytes] : within) {
    if (bytes > 0 && bytes >= kNearlyAll * all) return address;
  }
  return {};
}

/// Ports that are one rank, by the lowest of them.
class Ranks {
 public:
  Port of(Port port) {
    const auto found = parent_.try_emplace(port, port).first->second;
    return found == port ? port : of(found);
  }
  void join(Port a, Port b) {
    const Port one = of(a);
    const Port other = of(b);
    parent_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::map<Port, Port> parent_;
};

/// Where each rank sends to one other at most, and from one at most: joins the end of each path with the beginning of the next.
bool close_circle(const std::vector<std::pair<Port, Port>>& edges, Ranks& ranks) {
  std::map<Port, Port> next;
  std::map<Port, Port> before;
  for (const auto& [from_port, to_port] : edges) {
    const Port from = ranks.of(from_port);
    const Port to = ranks.of(to_port);
    const bool is_path = next.try_emplace(from, to).first->second == to &&
                         before.try_emplace(to, from).first->second == from;
    if (!is_path) return false;
  }
  std::vector<std::pair<Port, Port>> paths;  // first and last
  for (const auto& [from, to] : next) {
    if (before.contains(from)) continue;
    Port last = to;
    while (next.contains(last)) last = next.at(last);
    paths.emplace_back(from, last);
  }
  if (next.size() < 2) return false;
  for (std::size_t i = 0; i < paths.size(); ++i)
    ranks.join(paths[i].second, paths[(i + 1) % paths.size()].first);
  return !paths.empty();
}

/// Where every connection carries one way only, as NCCL's do: joins ports from which one rank sends (flow/same_senders.h), and those that
/// such connections lead to.
void join_channels(const std::vector<const flow::Flow*>& flows, Ranks& ranks) {
  std::set<Port> senders;
  for (const flow::Flow* flow : flows) senders.insert(flow->key.source_port);
  std::vector<const std::vector<flow::Burst>*> lanes;
  std::vector<int> leads_to;
  for (const flow::Flow* flow : flows) {
    if (senders.contains(flow->key.destination_port)) return;
    lanes.push_back(&flow->bursts);
    leads_to.push_back(flow->key.destination_port);
  }
  if (senders.size() < flows.size()) return;
  for (const std::vector<std::size_t>& group : flow::same_senders(lanes, leads_to)) {
    for (const std::size_t lane : group) {
      ranks.join(flows[group.front()]->key.source_port, flows[lane]->key.source_port);
      ranks.join(flows[group.front()]->key.destination_port, flows[lane]->key.destination_port);
    }
  }
}

packet::Address address_for(const packet::Address& shared, Port port) {
  packet::Address made;
  std::copy(kPrefix.begin(), kPrefix.end(), made.bytes.begin());
  made.bytes[4] = static_cast<std::uint8_t>(port >> 8);
  made.bytes[5] = static_cast<std::uint8_t>(port & 0xff);
  made.bytes[6] = shared.is_v4() ? 4 : 6;
  std::copy(shared.bytes.begin() + 12, shared.bytes.end(), made.bytes.begin() + 12);
  return made;
}

void add(flow::PairCount& into, const flow::Flow& flow) {
  into.packets += flow.packets;
  into.wire_bytes += flow.wire_bytes;
  into.payload_bytes += flow.payload_bytes;
  into.stream_bytes += flow.stream_bytes();
  into.retransmitted_bytes += flow.retransmitted_bytes;
  into.super_frames += flow.super_frames;
}

void take_off(flow::PairCount& from, const flow::Flow& flow) {
  from.packets -= std::min(from.packets, flow.packets);
  from.wire_bytes -= std::min(from.wire_bytes, flow.wire_bytes);
  from.payload_bytes -= std::min(from.payload_bytes, flow.payload_bytes);
  from.stream_bytes -= std::min(from.stream_bytes, flow.stream_bytes());
  from.retransmitted_bytes -= std::min(from.retransmitted_bytes, flow.retransmitted_bytes);
  from.super_frames -= std::min(from.super_frames, flow.super_frames);
}

/// Gives the ends of flows between ranks addresses of their own; pairs follow.
void move_flows(Captured& traffic, std::uint32_t shared,
                const std::map<Port, std::uint32_t>& address_of) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, flow::PairCount> pairs;
  const auto old = std::find_if(traffic.pairs.begin(), traffic.pairs.end(), [&](const auto& pair) {
    return pair.source == shared && pair.destination == shared;
  });
  for (flow::Flow& flow : traffic.flows) {
    if (!flow.key.is_tcp() || flow.key.source != shared || flow.key.destination != shared) continue;
    const auto from = address_of.find(flow.key.source_port);
    const auto to = address_of.find(flow.key.destination_port);
    if (from == address_of.end() || to == address_of.end()) continue;
    flow.key.source = from->second;
    flow.key.destination = to->second;
    auto [pair, is_new] =
        pairs.try_emplace({from->second, to->second},
                          flow::PairCount{.source = from->second, .destination = to->second});
    add(pair->second, flow);
    if (old != traffic.pairs.end()) take_off(*old, flow);
  }
  if (old != traffic.pairs.end() && old->packets == 0) traffic.pairs.erase(old);
  for (const auto& [ends, pair] : pairs) traffic.pairs.push_back(pair);
}

}  // namespace

PortHosts ports_as_hosts(Captured& traffic, const PortOwners& owners) {
  const auto shared = shared_address(traffic);
  if (!shared) return {};
  std::uint64_t largest = 0;
  for (const flow::Flow& flow : traffic.flows) largest = std::max(largest, flow.stream_bytes());
  Ranks ranks;
  std::set<Port> ports;
  std::vector<std::pair<Port, Port>> edges;
  std::vector<const flow::Flow*> major;
  for (const flow::Flow& flow : traffic.flows) {
    const bool is_major =
        flow.key.is_tcp() && flow.key.source == *shared && flow.key.destination == *shared &&
        static_cast<double>(flow.stream_bytes()) >= kMajor * static_cast<double>(largest);
    if (!is_major) continue;
    edges.emplace_back(flow.key.source_port, flow.key.destination_port);
    major.push_back(&flow);
    ports.insert({flow.key.source_port, flow.key.destination_port});
  }
  PortHosts made;
  const bool are_known =
      std::all_of(ports.begin(), ports.end(), [&](Port port) { return owners.contains(port); });
  if (are_known) {
    std::map<int, Port> first;
    for (const Port port : ports)
      ranks.join(port, first.try_emplace(owners.at(port), port).first->second);
  } else {
    join_channels(major, ranks);
    made.is_guess = close_circle(edges, ranks);
  }
  std::map<Port, Port> sender;  // by rank: the lowest of its ports that send
  for (const auto& [from, to] : edges) {
    const auto known = sender.try_emplace(ranks.of(from), from).first;
    known->second = std::min(known->second, from);
  }
  std::map<Port, std::uint32_t> address_of;
  std::map<Port, std::uint32_t> number_of;  // by rank
  for (const Port port : ports) {
    const Port rank = ranks.of(port);
    const auto [known, is_new] =
        number_of.try_emplace(rank, static_cast<std::uint32_t>(traffic.addresses.size()));
    address_of[port] = known->second;
    if (!is_new) continue;
    const auto sends = sender.find(rank);
    const Port shown = sends == sender.end() ? port : sends->second;
    traffic.addresses.push_back(address_for(traffic.addresses[*shared], shown));
    made.names.emplace_back(traffic.addresses.back().text(),
                            are_known
                                ? fmt::format("process {}", owners.at(port))
                                : fmt::format("{}:{}", traffic.addresses[*shared].text(), shown));
  }
  move_flows(traffic, *shared, address_of);
  return made;
}

bool is_given(const packet::Address& address) {
  return std::equal(kPrefix.begin(), kPrefix.end(), address.bytes.begin());
}

packet::Address real_address(const packet::Address& address) {
  if (!is_given(address)) return address;
  packet::Address shared;
  std::copy(address.bytes.begin() + 12, address.bytes.end(), shared.bytes.begin() + 12);
  if (address.bytes[6] == 4) shared.bytes[10] = shared.bytes[11] = 0xff;
  return shared;
}

std::string real_text(const packet::Address& address) { return real_address(address).text(); }

}  // namespace tw::gather
