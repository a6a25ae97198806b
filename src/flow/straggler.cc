// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/straggler.h"

#include "trainwire/base/units.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tw::flow {
namespace {

constexpr double kLeastShare = 0.7;    ///< of the steps in which it is the slowest
constexpr double kLeastExcess = 0.15;  ///< of the others' compute time
constexpr double kLeastPeriod = 0.05;  ///< of the step
constexpr double kSilence = 0.005;     ///< of the step: shorter ones are part of a conversation
constexpr std::int64_t kShortestSilenceNs = 1'000'000;
constexpr std::size_t kMostSmall = 12;  ///< messages in a pause; more are a conversation

FlowKey reverse(const FlowKey& key) {
  return {key.destination, key.source, key.destination_port, key.source_port, key.protocol};
}

/// When each host sent anything on the connections that carry gradients, either way.
std::map<int, std::vector<Interval>> messages(const Exchanges& exchanges,
                                              std::span<const Channel> channels,
                                              const Traffic& traffic) {
  std::map<FlowKey, int> sender;
  for (const Lane& lane : exchanges.lanes) {
    for (const std::size_t flow : channels[lane.channel].flows) {
      sender[traffic.flows[flow].key] = lane.from;
      sender[reverse(traffic.flows[flow].key)] = lane.to;
    }
  }
  std::map<int, std::vector<Interval>> result;
  for (const Flow& flow : traffic.flows) {
    const auto host = sender.find(flow.key);
    if (host == sender.end()) continue;
    for (const Burst& burst : flow.bursts) {
      result[host->second].push_back({burst.start_ns, burst.end_ns});
    }
  }
  for (auto& [host, sent] : result) {
    std::sort(sent.begin(), sent.end(),
              [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  }
  return result;
}

std::optional<std::int64_t> last_receive(const Exchanges& exchanges, int host, std::size_t step) {
  std::optional<std::int64_t> last;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.to != host || !lane.beats[step]) continue;
    last = std::max(last.value_or(lane.beats[step]->end_ns), lane.beats[step]->end_ns);
  }
  return last;
}

std::int64_t last_send(const Exchanges& exchanges, int host, std::size_t step) {
  std::int64_t last = 0;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.from == host && lane.beats[step]) last = std::max(last, lane.beats[step]->end_ns);
  }
  return last;
}

std::optional<std::int64_t> first_data(const Exchanges& exchanges, int host, std::size_t step) {
  std::optional<std::int64_t> first;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.from != host || !lane.beats[step]) continue;
    first = std::min(first.value_or(lane.beats[step]->start_ns), lane.beats[step]->start_ns);
  }
  return first;
}

/// The first message in (begin, end] that follows a silence; `end` when there is no other or the
/// host talks all the time.
std::int64_t first_after_silence(const std::vector<Interval>& sent, std::int64_t begin,
                                 std::int64_t end, std::int64_t silence) {
  auto message =
      std::lower_bound(sent.begin(), sent.end(), begin,
                       [](const Interval& a, std::int64_t time) { return a.start_ns <= time; });
  std::int64_t quiet_since = begin;
  std::optional<std::int64_t> found;
  std::size_t count = 0;
  for (; message != sent.end() && message->start_ns < end; ++message, ++count) {
    if (!found && message->start_ns - quiet_since >= silence) found = message->start_ns;
    quiet_since = std::max(quiet_since, message->end_ns);
  }
  return found && count <= kMostSmall ? *found : end;
}

/// By host, then step; negative when unknown.
std::vector<std::vector<double>> compute_table(const Exchanges& exchanges,
                                               std::span<const Channel> channels,
                                               const Traffic& traffic,
                                               std::span<const Starter> starters) {
  const std::map<int, std::vector<Interval>> sent = messages(exchanges, channels, traffic);
  const auto silence =
      std::max(kShortestSilenceNs, static_cast<std::int64_t>(kSilence * exchanges.tempo.period_ns));
  std::vector<std::vector<double>> table;
  for (const Starter& starter : starters) {
    const int host = starter.host;
    std::vector<double> row;
    for (std::size_t step = 1; step < exchanges.steps.size(); ++step) {
      const std::optional<std::int64_t> begin = last_receive(exchanges, host, step - 1);
      const std::optional<std::int64_t> end = first_data(exchanges, host, step);
      if (!begin || !end || !sent.contains(host)) {
        row.push_back(-1);
        continue;
      }
      // What it still sends of the step before is no beginning.
      const std::int64_t done = std::max(*begin, last_send(exchanges, host, step - 1));
      const std::int64_t first =
          *end <= done ? *end : first_after_silence(sent.at(host), done, *end, silence);
      row.push_back(std::max(0.0, static_cast<double>(first - *begin) * 1e-9));
    }
    table.push_back(std::move(row));
  }
  return table;
}

/// Whom a starter is compared with: who begins when it has computed; all, when nobody else does.
std::vector<std::size_t> comparable(std::span<const Starter> starters, std::size_t number) {
  std::vector<std::size_t> all;
  std::vector<std::size_t> plain;
  for (std::size_t i = 0; i < starters.size(); ++i) {
    if (i == number) continue;
    all.push_back(i);
    if (starters[i].explained_s == 0) plain.push_back(i);
  }
  return plain.empty() ? all : plain;
}

/// The median of the known times of a row; 0 when there are none.
double typical(const std::vector<double>& row) {
  std::vector<double> known;
  std::copy_if(row.begin(), row.end(), std::back_inserter(known), [](double s) { return s >= 0; });
  return known.empty() ? 0 : stats::median(std::move(known));
}

}  // namespace

std::vector<ComputeTime> compute_times(const Exchanges& exchanges,
                                       std::span<const Channel> channels, const Traffic& traffic,
                                       std::span<const Starter> starters) {
  std::vector<ComputeTime> result;
  if (exchanges.steps.size() < 4 || starters.size() < 2) return result;
  const auto table = compute_table(exchanges, channels, traffic, starters);
  for (std::size_t h = 0; h < starters.size(); ++h) {
    const std::vector<std::size_t> compared = comparable(starters, h);
    std::vector<double> own;
    std::vector<double> excess;
    double slowest = 0;
    for (std::size_t step = 0; step < table[h].size(); ++step) {
      std::vector<double> others;
      for (const std::size_t o : compared) {
        if (table[o][step] >= 0) others.push_back(table[o][step]);
      }
      if (table[h][step] < 0 || others.empty()) continue;
      const double most = *std::max_element(others.begin(), others.end());
      own.push_back(std::max(0.0, table[h][step] - starters[h].explained_s));
      excess.push_back(own.back() - stats::median(std::move(others)));
      slowest += own.back() > most ? 1 : 0;
    }
    if (own.empty()) continue;
    double longest = 0;
    for (const std::size_t o : compared) longest = std::max(longest, typical(table[o]));
    const double share = slowest / static_cast<double>(own.size());
    result.push_back({.host = starters[h].host,
                      .typical_s = stats::median(std::move(own)),
                      .others_s = longest,
                      .excess_s = stats::median(std::move(excess)),
                      .slowest_share = share});
  }
  return result;
}

std::optional<LateHost> find_straggler(const Exchanges& exchanges,
                                       std::span<const Channel> channels, const Traffic& traffic,
                                       std::span<const Starter> starters) {
  std::vector<ComputeTime> times = compute_times(exchanges, channels, traffic, starters);
  if (times.size() < 2) return std::nullopt;
  std::sort(times.begin(), times.end(),
            [](const ComputeTime& a, const ComputeTime& b) { return a.excess_s > b.excess_s; });
  const ComputeTime& worst = times[0];
  // What all wait for it: longer than the slowest of the others takes.
  const double others = worst.others_s;
  const double delay = worst.typical_s - others;
  const double period = exchanges.tempo.period_ns * 1e-9;
  // Others that seem to begin before they have received are not understood well enough.
  if (others <= 0) return std::nullopt;
  if (worst.slowest_share < kLeastShare || delay < kLeastExcess * others ||
      delay < kLeastPeriod * period) {
    return std::nullopt;
  }
  return LateHost{.host = worst.host,
                  .delay_s = delay,
                  .confidence = worst.slowest_share * std::min(1.0, delay / (0.1 * period)),
                  .evidence = fmt::format(
                      "in {:.0f} % of the steps it is the last to begin: {} after it received the "
                      "previous step, the others at most {}",
                      100 * worst.slowest_share, readable(from_seconds(worst.typical_s)),
                      readable(from_seconds(others)))};
}

std::vector<Starter> ring_starters(std::span<const int> order, int slow_from, double round_s) {
  const auto slow = static_cast<std::size_t>(
      std::distance(order.begin(), std::find(order.begin(), order.end(), slow_from)));
  std::vector<Starter> starters;
  for (std::size_t after = 1; after < order.size(); ++after) {
    const bool is_ahead = 2 * after > order.size();
    starters.push_back(
        {.host = order[(slow + after) % order.size()], .explained_s = is_ahead ? 2 * round_s : 0});
  }
  return starters;
}

}  // namespace tw::flow
