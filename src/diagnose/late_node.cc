// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/late_node.h"

#include "trainwire/base/units.h"
#include "trainwire/rhythm/pauses.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tw::diagnose {
namespace {

constexpr double kLeastShare = 0.7;    ///< of the steps in which it holds data for longest
constexpr double kLeastPeriod = 0.05;  ///< of the step
constexpr double kMuchLonger = 3;  ///< times the others: one with three children reduces so long
constexpr std::size_t kFewestSteps = 4;

/// What a byte takes to the receiver and its acknowledgement back; 0 when not known.
std::int64_t round_trip_ns(const rhythm::Channel& channel, const gather::Captured& traffic) {
  std::int64_t longest = 0;
  for (const std::size_t flow : channel.flows) {
    longest = std::max(longest, traffic.flows[flow].round_trips.least_ns);
  }
  return longest;
}

struct Seen {
  const rhythm::Steps& exchanges;
  std::span<const rhythm::Channel> channels;
  const gather::Captured& traffic;
  rhythm::Messages sent;
};

/// What comes to a node before its own first data.
struct Arrivals {
  std::vector<rhythm::Interval> bursts;
  std::int64_t last_begins_ns = 0;  ///< the first byte of the sender that is last to begin
  std::int64_t round_trip_ns = 0;
};

Arrivals arrivals_at(const Seen& seen, int node, std::size_t step, std::int64_t data_ns) {
  Arrivals result;
  for (const rhythm::Lane& lane : seen.exchanges.lanes) {
    if (lane.to != node || !lane.beats[step] || lane.beats[step]->start_ns >= data_ns) continue;
    const rhythm::Beat& beat = *lane.beats[step];
    const rhythm::Channel& channel = seen.channels[lane.channel];
    for (std::size_t b = beat.first_burst; b < beat.end_burst; ++b) {
      if (channel.bursts[b].bytes == 0) continue;
      result.bursts.push_back({channel.bursts[b].start_ns, channel.bursts[b].end_ns});
    }
    result.last_begins_ns = std::max(result.last_begins_ns, beat.start_ns);
    result.round_trip_ns = std::max(result.round_trip_ns, round_trip_ns(channel, seen.traffic));
  }
  return result;
}

/// The longest time in [begin, end] with none of the intervals.
std::int64_t longest_gap(std::vector<rhythm::Interval> intervals, std::int64_t begin,
                         std::int64_t end) {
  intervals.push_back({end, end});
  std::sort(
      intervals.begin(), intervals.end(),
      [](const rhythm::Interval& a, const rhythm::Interval& b) { return a.start_ns < b.start_ns; });
  std::int64_t longest = 0;
  for (const rhythm::Interval& interval : intervals) {
    longest = std::max(longest, std::min(interval.start_ns, end) - begin);
    begin = std::max(begin, interval.end_ns);
  }
  return longest;
}

/// For how long nothing moves to or from a node when all that it waits for has begun to come, until
/// it sends; negative when not known.
double hold_s(const Seen& seen, int node, std::size_t step) {
  const std::optional<std::int64_t> data = rhythm::first_data(seen.exchanges, node, step);
  const auto sent = seen.sent.find(node);
  if (!data || sent == seen.sent.end()) return -1;
  Arrivals arrivals = arrivals_at(seen, node, step, *data);
  if (arrivals.bursts.empty()) return -1;
  for (auto message = rhythm::first_after(sent->second, arrivals.last_begins_ns);
       message != sent->second.end() && message->start_ns < *data; ++message) {
    arrivals.bursts.push_back(*message);
  }
  const std::int64_t gap = longest_gap(std::move(arrivals.bursts), arrivals.last_begins_ns, *data);
  return std::max(0.0, static_cast<double>(gap - arrivals.round_trip_ns) * 1e-9);
}

/// By node, then step; negative when not known.
std::vector<std::vector<double>> hold_table(const Seen& seen, std::span<const int> nodes) {
  std::vector<std::vector<double>> table;
  for (const int node : nodes) {
    std::vector<double>& row = table.emplace_back();
    for (std::size_t step = 0; step < seen.exchanges.steps.size(); ++step) {
      row.push_back(hold_s(seen, node, step));
    }
  }
  return table;
}

/// What a node holds data for in the steps that are known, and the longest of the others'.
struct Holds {
  int node;
  std::vector<double> own_s = {};
  std::vector<double> others_s = {};
};

Holds holds_of(const std::vector<std::vector<double>>& table, std::span<const int> nodes,
               std::size_t number) {
  Holds result{.node = nodes[number]};
  for (std::size_t step = 0; step < table[number].size(); ++step) {
    double others = -1;
    for (std::size_t other = 0; other < table.size(); ++other) {
      if (other != number) others = std::max(others, table[other][step]);
    }
    if (table[number][step] < 0 || others < 0) continue;
    result.own_s.push_back(table[number][step]);
    result.others_s.push_back(others);
  }
  return result;
}

std::optional<LateHost> as_late(const Holds& holds, double period_s) {
  if (holds.own_s.size() < kFewestSteps) return std::nullopt;
  double longest = 0;
  for (std::size_t i = 0; i < holds.own_s.size(); ++i) {
    longest += holds.own_s[i] > holds.others_s[i] ? 1 : 0;
  }
  const double share = longest / static_cast<double>(holds.own_s.size());
  const double own = stats::median(holds.own_s);
  const double others = stats::median(holds.others_s);
  if (share < kLeastShare || own < kMuchLonger * others || own - others < kLeastPeriod * period_s) {
    return std::nullopt;
  }
  return LateHost{
      .host = holds.node,
      .delay_s = own - others,
      .confidence = share * std::min(1.0, (own - others) / (0.1 * period_s)),
      .evidence = fmt::format(
          "in {:.0f} % of the steps it is the last to pass on what it receives: {} after it came, "
          "others that pass on at most {}",
          100 * share, readable(from_seconds(own)), readable(from_seconds(others)))};
}

}  // namespace

std::optional<LateHost> find_late_node(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic,
                                       std::span<const int> nodes) {
  if (nodes.size() < 2) return std::nullopt;
  const Seen seen{exchanges, channels, traffic, rhythm::messages_of(exchanges, channels, traffic)};
  const std::vector<std::vector<double>> table = hold_table(seen, nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (auto late = as_late(holds_of(table, nodes, i), exchanges.tempo.period_ns * 1e-9)) {
      return late;
    }
  }
  return std::nullopt;
}

}  // namespace tw::diagnose
