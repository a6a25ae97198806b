// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/channel.h"

#include "trainwire/base/parallel.h"
#include "trainwire/flow/bursts.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr std::uint64_t kLeastShare = 1000;     ///< of the largest flow, as a divisor
constexpr std::uint64_t kLargestTrain = 65536;  ///< bytes sent at once: the largest packet's
constexpr std::size_t kFewestTrains = 64;
constexpr double kMostlyTrains = 0.5;    ///< of the bytes of a channel that a slow link spaces
constexpr double kLongestSpacing = 4;    ///< of the median
constexpr double kShortSpacingNs = 2e6;  ///< longer ones are spacing only where the rate is even:
constexpr double kEvenRate = 3;          ///< between the quartiles over trains
constexpr std::size_t kManyMore = 8;     ///< times the bursts of another channel with as many bytes
constexpr std::size_t kFewestBursts = 4;  ///< fewer hold no rhythm

/// Trains of a channel: the pauses after them, and the rates up to the next one.
struct Trains {
  std::vector<double> gaps_ns;
  std::vector<double> rates;
  double bytes = 0;
};

Trains trains_of(std::span<const flow::Burst> bursts) {
  Trains result;
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    if (bursts[i].bytes > kLargestTrain) continue;
    const auto bytes = static_cast<double>(bursts[i].bytes);
    result.bytes += bytes;
    if (i + 1 == bursts.size()) break;
    result.gaps_ns.push_back(static_cast<double>(bursts[i + 1].start_ns - bursts[i].end_ns));
    result.rates.push_back(bytes /
                           static_cast<double>(bursts[i + 1].start_ns - bursts[i].start_ns));
  }
  return result;
}

/// The longest pause that is only the spacing of a slow link; 0 when there is none. Who waits for
/// others' rounds sends in small pieces too, but at no even rate.
std::int64_t longest_spacing(std::span<const flow::Burst> bursts) {
  double all = 0;
  for (const flow::Burst& burst : bursts) all += static_cast<double>(burst.bytes);
  const Trains trains = trains_of(bursts);
  if (trains.gaps_ns.size() < kFewestTrains || trains.bytes < kMostlyTrains * all) return 0;
  const double typical = stats::median(trains.gaps_ns);
  const bool is_even =
      stats::quantile(trains.rates, 0.75) <= kEvenRate * stats::quantile(trains.rates, 0.25);
  if (typical > kShortSpacingNs && !is_even) return 0;
  return static_cast<std::int64_t>(kLongestSpacing * typical);
}

/// Whether another channel sends about as much in far fewer bursts: then so many are no steps.
bool is_chopped(const Channel& channel, std::span<const Channel> others) {
  return std::any_of(others.begin(), others.end(), [&](const Channel& other) {
    return 2 * other.bytes > channel.bytes && other.bytes < 2 * channel.bytes &&
           kManyMore * other.bursts.size() < channel.bursts.size();
  });
}

}  // namespace

std::vector<double> KnownDistances::of(std::span<const flow::Burst> bursts,
                                       const std::function<std::vector<double>()>& find) {
  if (bursts.empty()) return find();
  std::uint64_t bytes = 0;
  for (const flow::Burst& burst : bursts) bytes += burst.bytes;
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = known_.try_emplace(
      Signature{bursts.size(), bursts.front().start_ns, bursts.back().end_ns, bytes});
  if (is_new) known->second = find();
  return known->second;
}

double bytes_of(std::span<const Channel> channels) {
  double sum = 0;
  for (const Channel& channel : channels) sum += static_cast<double>(channel.bytes);
  return sum;
}

std::vector<Channel> flow_channels(const gather::Captured& traffic,
                                   const std::vector<int>& host_of) {
  std::uint64_t largest = 0;
  for (const flow::Flow& flow : traffic.flows) {
    if (!flow.cross) largest = std::max(largest, flow.stream_bytes());
  }
  std::vector<Channel> channels;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const flow::Flow& flow = traffic.flows[i];
    const int from = host_of[flow.key.source];
    const int to = host_of[flow.key.destination];
    const std::uint64_t bytes = flow.stream_bytes();
    if (flow.cross || bytes == 0 || bytes < largest / kLeastShare || from == to) continue;
    if (from < 0 || to < 0) continue;  // to a group of hosts, which is nobody's gradient
    channels.push_back({.from = from,
                        .to = to,
                        .flows = {i},
                        .bursts = flow.bursts,
                        .bytes = bytes,
                        .beginning = flow.saw_syn ? Beginning::Seen : Beginning::Unknown,
                        .round_trip_ns = flow.round_trips.least_ns,
                        .saw_all_begin = flow.saw_syn});
  }
  return channels;
}

std::vector<Channel> pair_channels(const std::vector<Channel>& flows, std::int64_t gap_ns) {
  std::map<std::pair<int, int>, Channel> pairs;
  for (const Channel& flow : flows) {
    Channel& pair = pairs[{flow.from, flow.to}];
    pair.from = flow.from;
    pair.to = flow.to;
    pair.saw_all_begin = flow.saw_all_begin && (pair.flows.empty() || pair.saw_all_begin);
    pair.bytes += flow.bytes;
    pair.round_trip_ns = std::max(pair.round_trip_ns, flow.round_trip_ns);
    pair.flows.insert(pair.flows.end(), flow.flows.begin(), flow.flows.end());
    pair.bursts.insert(pair.bursts.end(), flow.bursts.begin(), flow.bursts.end());
  }
  std::vector<Channel> channels;
  for (auto& [hosts, pair] : pairs) channels.push_back(std::move(pair));
  in_parallel(channels.size(), [&](std::size_t i) {
    flow::sort_by_start(channels[i].bursts);
    flow::join_bursts(channels[i].bursts, gap_ns);
  });
  return channels;
}

std::optional<std::vector<Channel>> without_spacing(std::span<const Channel> channels) {
  std::vector<Channel> result(channels.begin(), channels.end());
  bool has_changed = false;
  for (Channel& channel : result) {
    const std::int64_t spacing = longest_spacing(channel.bursts);
    if (spacing == 0) continue;
    std::vector<flow::Burst> joined = channel.bursts;
    flow::join_bursts(joined, spacing);
    if (joined.size() == channel.bursts.size()) continue;
    if (joined.size() < kFewestBursts && !is_chopped(channel, channels)) continue;
    channel.bursts = std::move(joined);
    has_changed = true;
  }
  return has_changed ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace tw::rhythm
