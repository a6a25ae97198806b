// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/lockstep.h"

#include "trainwire/flow/bursts.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr double kOftenBroken = 0.04;   ///< share of beats that shows that they are no steps
constexpr double kHardlyBroken = 0.02;  ///< share that clocks and captures may cause
constexpr double kCommonBurst = 0.15;   ///< share of the bursts that have the size of a round
constexpr double kSameBytes = 0.01;
constexpr std::uint64_t kSmallBursts = 50;  ///< as many of them are less than a beat
constexpr std::size_t kFewestSteps = 3;
constexpr double kGroupedDominance = 0.5;  ///< the pauses did not tell: half as sure
constexpr double kClearSilence = 1.15;     ///< against the longest inside, which varies by as much
/// Share of the beats in which the same of two hosts answers. Of two rounds of a ring it is one at
/// most: who is late in the first is not in the second.
constexpr double kMostlyAnswered = 0.75;
constexpr double kLongRest = 4;      ///< against the longest silence inside, or a round trip
constexpr double kAlikeRests = 0.8;  ///< the shortest of the longest
constexpr double kMostSteps = 0.6;   ///< share that has a clear silence, and is seen at all

/// Who has begun and who is done in one step.
class Barrier {
 public:
  void add(int from, int to, const Beat& beat) {
    const auto first = begun_.try_emplace(from, beat.start_ns).first;
    first->second = std::min(first->second, beat.start_ns);
    const auto last = done_.try_emplace(to, beat.end_ns).first;
    last->second = std::max(last->second, beat.end_ns);
  }
  std::int64_t last_begun() const {
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const auto& [host, time] : begun_) last = std::max(last, time);
    return last;
  }
  bool is_broken() const {
    std::int64_t first_done = std::numeric_limits<std::int64_t>::max();
    for (const auto& [host, time] : done_) first_done = std::min(first_done, time);
    return first_done < last_begun();
  }
  /// From the end of what a host received in the step before to its first byte in this one, of the
  /// host for which that is shortest; negative when it still received.
  std::optional<std::int64_t> shortest_rest_since(const Barrier& before) const {
    std::optional<std::int64_t> shortest;
    for (const auto& [host, time] : begun_) {
      const auto done = before.done_.find(host);
      if (done == before.done_.end()) continue;
      shortest = std::min(shortest.value_or(time - done->second), time - done->second);
    }
    return shortest;
  }
  /// The same between different hosts: who waits for all the others before it sends is left out.
  bool is_broken_by_another() const {
    if (done_.empty()) return false;
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto first = std::min_element(done_.begin(), done_.end(), by_time);
    const auto last = std::max_element(begun_.begin(), begun_.end(), by_time);
    const auto is_before = [](const auto& done, const auto& begun) {
      return done.first != begun.first && done.second < begun.second;
    };
    return std::any_of(begun_.begin(), begun_.end(),
                       [&](const auto& begun) { return is_before(*first, begun); }) ||
           std::any_of(done_.begin(), done_.end(),
                       [&](const auto& done) { return is_before(done, *last); });
  }

 private:
  std::map<int, std::int64_t> begun_;
  std::map<int, std::int64_t> done_;
};

Barrier barrier_of(const Steps& exchanges, std::size_t step) {
  Barrier barrier;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.beats[step]) barrier.add(lane.from, lane.to, *lane.beats[step]);
  }
  return barrier;
}

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// Beat `first` to `first + count` as one.
Beat joined(const std::vector<Beat>& beats, std::size_t first, std::size_t count) {
  Beat result = beats[first];
  for (std::size_t i = first + 1; i < first + count; ++i) {
    result.end_ns = std::max(result.end_ns, beats[i].end_ns);
    result.bytes += beats[i].bytes;
    result.end_burst = std::max(result.end_burst, beats[i].end_burst);
    result.fits = result.fits && beats[i].fits;
  }
  return result;
}

/// Members with `count` beats taken together, from beat number `phase` on.
Tempo grouped(const Tempo& tempo, std::size_t count, std::size_t phase) {
  Tempo result = tempo;
  result.period_ns *= static_cast<double>(count);
  result.dominance = std::min(result.dominance, kGroupedDominance);
  for (Member& member : result.members) {
    std::vector<Beat> beats;
    for (std::size_t i = phase; i + count <= member.beats.size(); i += count) {
      beats.push_back(joined(member.beats, i, count));
    }
    member.beats = std::move(beats);
    member.bytes *= count;
  }
  return result;
}

/// Broken share when beat i of every member belongs to step i.
double broken_by_number(const Tempo& tempo, std::span<const Channel> channels) {
  std::size_t steps = tempo.members.front().beats.size();
  for (const Member& member : tempo.members) steps = std::min(steps, member.beats.size());
  std::size_t broken = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    Barrier barrier;
    for (const Member& member : tempo.members) {
      const Channel& channel = channels[member.channel];
      barrier.add(channel.from, channel.to, member.beats[step]);
    }
    broken += barrier.is_broken() ? 1 : 0;
  }
  return share(broken, steps);
}

/// The smallest size that many bursts have: one round, when the next waits for the others.
double round_bytes(const Tempo& tempo, std::span<const Channel> channels) {
  std::vector<double> sizes;
  for (const Member& member : tempo.members) {
    for (const flow::Burst& burst : channels[member.channel].bursts) {
      if (kSmallBursts * burst.bytes > member.bytes)
        sizes.push_back(static_cast<double>(burst.bytes));
    }
  }
  std::sort(sizes.begin(), sizes.end());
  const double needed = kCommonBurst * static_cast<double>(sizes.size());
  std::size_t high = 0;
  for (std::size_t low = 0; low < sizes.size(); ++low) {
    while (high < sizes.size() && sizes[high] <= sizes[low] * (1 + kSameBytes)) ++high;
    if (static_cast<double>(high - low) >= needed) return sizes[(low + high) / 2];
  }
  return 0;
}

/// Goes through what all lanes send, in time order. Messages that are small against the rest are
/// part of silence.
class AllLanes {
 public:
  AllLanes(const Steps& exchanges, std::span<const Channel> channels) {
    for (const Lane& lane : exchanges.lanes) {
      for (const flow::Burst& burst : channels[lane.channel].bursts) {
        if (kSmallBursts * burst.bytes > lane.bytes) bursts_.push_back(burst);
      }
    }
    flow::sort_by_start(bursts_);
    if (!bursts_.empty()) last_ns_ = bursts_.front().start_ns;
  }

  /// Goes on to `time_ns` (not before the last); the longest silence that ended on the way.
  std::int64_t pass(std::int64_t time_ns) {
    std::int64_t longest = 0;
    for (; next_ < bursts_.size() && bursts_[next_].start_ns < time_ns; ++next_) {
      longest = std::max(longest, bursts_[next_].start_ns - last_ns_);
      last_ns_ = std::max(last_ns_, bursts_[next_].end_ns);
    }
    return longest;
  }

 private:
  std::vector<flow::Burst> bursts_;
  std::size_t next_ = 0;
  std::int64_t last_ns_ = 0;
};

/// Of the lanes.
std::int64_t longest_round_trip(const Steps& exchanges, std::span<const Channel> channels) {
  std::int64_t longest = 0;
  for (const Lane& lane : exchanges.lanes) {
    longest = std::max(longest, channels[lane.channel].round_trip_ns);
  }
  return longest;
}

/// Before a step.
struct Rest {
  double length_ns;  ///< the shortest of a host
  double times;      ///< as long as the longest silence inside, or a round trip
};

/// Of every step but the first. Inside is where everybody has begun: before that
/// the others may wait for a late one. Everybody has a rest of its own: behind a slow link some
/// begin while others still receive the step before.
std::vector<Rest> rests(const Steps& exchanges, std::span<const Channel> channels) {
  const std::int64_t round_trip =
      std::max<std::int64_t>(1, longest_round_trip(exchanges, channels));
  AllLanes lanes(exchanges, channels);
  std::vector<Rest> result;
  Barrier before;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    const Barrier barrier = barrier_of(exchanges, step);
    lanes.pass(barrier.last_begun() + 1);
    const std::int64_t inside = std::max(round_trip, lanes.pass(exchanges.steps[step].end_ns));
    if (const auto rest = barrier.shortest_rest_since(before)) {
      const auto length = static_cast<double>(*rest);
      result.push_back({.length_ns = length, .times = length / static_cast<double>(inside)});
    }
    before = barrier;
  }
  return result;
}

/// Whether of two hosts the same one mostly begins after it has received everything: it answers.
bool is_answered(const Steps& exchanges) {
  const std::vector<int> hosts = hosts_of(exchanges);
  if (hosts.size() != 2) return false;
  const auto is_after = [&](int first, int second, std::size_t step) {
    const std::optional<Interval> request = pair_interval(exchanges, first, second, step);
    const std::optional<Interval> answer = pair_interval(exchanges, second, first, step);
    return request && answer && answer->start_ns > request->end_ns;
  };
  std::size_t forth = 0;
  std::size_t back = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    forth += is_after(hosts[0], hosts[1], step) ? 1 : 0;
    back += is_after(hosts[1], hosts[0], step) ? 1 : 0;
  }
  return share(std::max(forth, back), exchanges.steps.size()) > kMostlyAnswered;
}

/// Share of the lanes' bytes that lies in steps. The rest is in steps that no pause divides.
double share_in_steps(const Steps& exchanges, std::span<const Channel> channels) {
  double all = 0;
  double inside = 0;
  for (const Lane& lane : exchanges.lanes) all += static_cast<double>(channels[lane.channel].bytes);
  for (const ExchangeStep& step : exchanges.steps) inside += static_cast<double>(step.bytes);
  return all > 0 ? inside / all : 0;
}

}  // namespace

double broken_share(const Steps& exchanges) {
  std::size_t broken = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    broken += barrier_of(exchanges, step).is_broken() ? 1 : 0;
  }
  return share(broken, exchanges.steps.size());
}

double early_share(const Steps& exchanges) {
  std::size_t early = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    early += barrier_of(exchanges, step).is_broken_by_another() ? 1 : 0;
  }
  return share(early, exchanges.steps.size());
}

double alone_share(const Steps& exchanges, std::span<const Channel> channels) {
  std::vector<flow::Burst> all;
  for (std::size_t lane = 0; lane < exchanges.lanes.size(); ++lane) {
    const Channel& channel = channels[exchanges.lanes[lane].channel];
    for (flow::Burst burst : channel.bursts) {
      burst.end_ns += channel.round_trip_ns * 2 / 5;  // less than half, which clocks may be off
      if (kSmallBursts * burst.bytes > exchanges.lanes[lane].bytes) all.push_back(burst);
    }
  }
  flow::sort_by_start(all);
  double bytes = 0;
  double alone = 0;
  std::int64_t last_end = std::numeric_limits<std::int64_t>::min();  // of those before
  for (std::size_t i = 0; i < all.size(); ++i) {
    const flow::Burst& burst = all[i];
    const bool overlaps =
        burst.start_ns < last_end || (i + 1 < all.size() && all[i + 1].start_ns < burst.end_ns);
    bytes += static_cast<double>(burst.bytes);
    alone += overlaps ? 0 : static_cast<double>(burst.bytes);
    last_end = std::max(last_end, burst.end_ns);
  }
  return bytes > 0 ? alone / bytes : 0;
}

bool rest_alike(const Steps& beats, std::span<const Channel> channels, std::size_t count) {
  if (longest_round_trip(beats, channels) == 0) return false;
  std::vector<std::vector<double>> by_turn(count);
  std::vector<double> times;
  const std::vector<Rest> found = rests(beats, channels);
  for (std::size_t i = 0; i < found.size(); ++i) {
    by_turn[i % count].push_back(found[i].length_ns);
    times.push_back(found[i].times);
  }
  std::vector<double> typical;
  for (std::vector<double>& turn : by_turn) {
    if (turn.size() < kFewestSteps) return false;
    typical.push_back(stats::median(std::move(turn)));
  }
  const auto [least, most] = std::minmax_element(typical.begin(), typical.end());
  return stats::median(std::move(times)) >= kLongRest && *least >= kAlikeRests * *most;
}

std::optional<Steps> ring_steps(const Tempo& tempo, std::span<const Channel> channels, int hosts) {
  if (tempo.members.empty()) return std::nullopt;
  const Steps exchanges = align(tempo, channels);
  if (broken_share(exchanges) < kOftenBroken || is_answered(exchanges)) return std::nullopt;
  const double rounds = 2.0 * (hosts - 1);
  const double beats =
      rounds * round_bytes(tempo, channels) / static_cast<double>(tempo.members.front().bytes);
  const auto count = static_cast<std::size_t>(std::llround(beats));
  if (count < 2 || std::abs(beats - static_cast<double>(count)) > 0.03 * beats) return std::nullopt;
  if (rest_alike(exchanges, channels, count)) return std::nullopt;
  for (std::size_t phase = 0; phase < count; ++phase) {
    Tempo steps = grouped(tempo, count, phase);
    const bool is_enough =
        std::all_of(steps.members.begin(), steps.members.end(),
                    [](const Member& member) { return member.beats.size() >= kFewestSteps; });
    if (!is_enough || broken_by_number(steps, channels) > kHardlyBroken) continue;
    return align(std::move(steps), channels);
  }
  return std::nullopt;
}

bool are_whole(const Steps& exchanges, std::span<const Channel> channels, double times) {
  if (share_in_steps(exchanges, channels) < kMostSteps) return false;
  std::vector<double> found;
  for (const Rest& rest : rests(exchanges, channels)) found.push_back(rest.times);
  if (found.empty() || early_share(exchanges) >= kOftenBroken) return false;
  // One in `times` is clear anyway.
  const double needed = kMostSteps + (1 - kMostSteps) / times;
  return stats::quantile(found, 1 - needed) >= kClearSilence;
}

}  // namespace tw::rhythm
