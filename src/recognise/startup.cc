// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/startup.h"

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kLeastPart = 0.97;  ///< of the payload
constexpr double kMostParts = 1.25;  ///< of it: buffers that are no gradients come along

/// When each channel's part in the first step begins.
std::int64_t first_step_start(const rhythm::Steps& exchanges, std::size_t flow,
                              const std::map<std::size_t, std::int64_t>& lane_starts) {
  const auto lane = lane_starts.find(flow);
  return lane != lane_starts.end() ? lane->second : exchanges.steps.front().end_ns;
}

/// Bytes between hosts before the first step.
std::map<std::pair<int, int>, double> bytes_before(
    const rhythm::Steps& exchanges, const gather::Captured& traffic,
    const std::vector<int>& host_of, const std::map<std::size_t, std::int64_t>& starts) {
  std::map<std::pair<int, int>, double> sums;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const flow::Flow& flow = traffic.flows[i];
    if (flow.cross) continue;
    const std::int64_t end = first_step_start(exchanges, i, starts);
    for (const flow::Burst& burst : flow.bursts) {
      if (burst.start_ns >= end) break;
      sums[{host_of[flow.key.source], host_of[flow.key.destination]}] +=
          static_cast<double>(burst.bytes);
    }
  }
  return sums;
}

}  // namespace

std::optional<StartBroadcast> find_broadcast(const rhythm::Steps& exchanges,
                                             const Recognition& found,
                                             const gather::Captured& traffic,
                                             const std::vector<int>& host_of) {
  const collective::Strategy* strategy = collective::find_strategy(found.strategy);
  if (exchanges.steps.empty() || strategy == nullptr) return std::nullopt;
  if (strategy->operation != collective::Operation::AllReduce) return std::nullopt;
  // Its steps end with a broadcast: the first of them is no other.
  if (strategy->ends_in_broadcast) return std::nullopt;
  std::map<std::size_t, std::int64_t> starts;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    if (lane.beats.front()) starts[lane.channel] = lane.beats.front()->start_ns;
  }
  std::map<int, int> parent;
  double least = kMostParts * found.payload;
  for (const auto& [pair, bytes] : bytes_before(exchanges, traffic, host_of, starts)) {
    if (bytes < kLeastPart * found.payload || bytes > kMostParts * found.payload) continue;
    if (!parent.emplace(pair.second, pair.first).second) return std::nullopt;
    least = std::min(least, bytes);
  }
  std::vector<int> roots;
  for (const int host : found.order) {
    if (!parent.contains(host)) roots.push_back(host);
  }
  if (roots.size() != 1 || parent.size() + 1 != found.order.size()) return std::nullopt;
  StartBroadcast result{
      .order = {roots.front()},
      .bytes = static_cast<std::uint64_t>(std::llround(least)),
      .confidence = 0.9,
      .evidence = fmt::format("each of {} hosts receives {} once before its first exchange",
                              parent.size(), readable(Bytes(std::llround(least))))};
  for (const int host : found.order) {
    if (host != roots.front()) result.order.push_back(host);
  }
  return result;
}

}  // namespace tw::recognise
