// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/channel.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tw::flow {
namespace {

constexpr std::uint64_t kLeastShare = 1000;  ///< of the largest flow, as a divisor

void join_overlapping(std::vector<Burst>& bursts, std::int64_t gap_ns) {
  std::sort(bursts.begin(), bursts.end(),
            [](const Burst& a, const Burst& b) { return a.start_ns < b.start_ns; });
  std::size_t kept = 0;
  for (const Burst& burst : bursts) {
    if (kept > 0 && burst.start_ns - bursts[kept - 1].end_ns <= gap_ns) {
      Burst& joined = bursts[kept - 1];
      joined.end_ns = std::max(joined.end_ns, burst.end_ns);
      joined.bytes += burst.bytes;
      joined.packets += burst.packets;
    } else {
      bursts[kept++] = burst;
    }
  }
  bursts.resize(kept);
}

}  // namespace

std::vector<Channel> flow_channels(const Traffic& traffic, const std::vector<int>& host_of) {
  std::uint64_t largest = 0;
  for (const Flow& flow : traffic.flows) largest = std::max(largest, flow.stream_bytes());
  std::vector<Channel> channels;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const Flow& flow = traffic.flows[i];
    const int from = host_of[flow.key.source];
    const int to = host_of[flow.key.destination];
    const std::uint64_t bytes = flow.stream_bytes();
    if (bytes == 0 || bytes < largest / kLeastShare || from == to) continue;
    channels.push_back({.from = from,
                        .to = to,
                        .flows = {i},
                        .bursts = flow.bursts,
                        .bytes = bytes,
                        .beginning = flow.saw_syn ? Beginning::Seen : Beginning::Unknown});
  }
  return channels;
}

std::vector<Channel> pair_channels(const std::vector<Channel>& flows, std::int64_t gap_ns) {
  std::map<std::pair<int, int>, Channel> pairs;
  for (const Channel& flow : flows) {
    Channel& pair = pairs[{flow.from, flow.to}];
    pair.from = flow.from;
    pair.to = flow.to;
    pair.bytes += flow.bytes;
    pair.flows.insert(pair.flows.end(), flow.flows.begin(), flow.flows.end());
    pair.bursts.insert(pair.bursts.end(), flow.bursts.begin(), flow.bursts.end());
  }
  std::vector<Channel> channels;
  for (auto& [hosts, pair] : pairs) {
    join_overlapping(pair.bursts, gap_ns);
    channels.push_back(std::move(pair));
  }
  return channels;
}

}  // namespace tw::flow
