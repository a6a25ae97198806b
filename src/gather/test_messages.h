// SPDX-License-Identifier: Apache-2.0
// Traffic made of single messages, for strategies that the catalogue does not have.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/packet/address.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tw::gather {

/// Host h has address 10.0.0.(h+1).
struct Message {
  double at_ms;
  int from;
  int to;
  std::uint64_t bytes;
  double lasts_ms = 2;
};

/// One connection between each two hosts.
inline Captured traffic_of(std::vector<Message> messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.at_ms < b.at_ms; });
  std::map<std::pair<int, int>, flow::Flow> flows;
  Captured traffic = {};
  traffic.burst_gap_ns = 500'000;
  int hosts = 0;
  for (const Message& message : messages) {
    hosts = std::max({hosts, message.from + 1, message.to + 1});
    const auto start = static_cast<std::int64_t>(message.at_ms * 1e6);
    const auto end = static_cast<std::int64_t>((message.at_ms + message.lasts_ms) * 1e6);
    flow::Flow& flow = flows[{message.from, message.to}];
    flow.bursts.push_back({.start_ns = start,
                           .end_ns = end,
                           .bytes = message.bytes,
                           .packets = static_cast<std::uint32_t>(message.bytes / 1448 + 1)});
    flow.payload_bytes += message.bytes;
  }
  traffic.addresses.push_back({});
  for (int host = 0; host < hosts; ++host) {
    traffic.addresses.push_back(packet::v4_address(0x0a000001 + static_cast<std::uint32_t>(host)));
  }
  for (auto& [pair, flow] : flows) {
    const bool is_client = pair.first < pair.second;
    flow.key = {static_cast<std::uint32_t>(pair.first + 1),
                static_cast<std::uint32_t>(pair.second + 1),
                static_cast<std::uint16_t>(is_client ? 50'000 : 4'000),
                static_cast<std::uint16_t>(is_client ? 4'000 : 50'000), 6};
    flow.saw_syn = true;
    flow.first_ns = flow.bursts.front().start_ns;
    flow.last_ns = flow.bursts.back().end_ns;
    traffic.totals.last_ns = std::max(traffic.totals.last_ns, flow.last_ns);
    traffic.flows.push_back(std::move(flow));
  }
  return traffic;
}

}  // namespace tw::gather
