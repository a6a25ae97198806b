// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/lockstep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tw::flow {
namespace {

constexpr double kOftenBroken = 0.04;   ///< share of beats that shows that they are no steps
constexpr double kHardlyBroken = 0.02;  ///< share that clocks and captures may cause
constexpr double kCommonBurst = 0.15;   ///< share of the bursts that have the size of a round
constexpr double kSameBytes = 0.01;
constexpr std::size_t kFewestSteps = 3;
constexpr double kGroupedDominance = 0.5;  ///< the pauses did not tell: half as sure

/// Who has begun and who is done in one step.
class Barrier {
 public:
  void add(int from, int to, const Beat& beat) {
    const auto first = begun_.try_emplace(from, beat.start_ns).first;
    first->second = std::min(first->second, beat.start_ns);
    const auto last = done_.try_emplace(to, beat.end_ns).first;
    last->second = std::max(last->second, beat.end_ns);
  }
  bool is_broken() const {
    std::int64_t last_begin = std::numeric_limits<std::int64_t>::min();
    std::int64_t first_done = std::numeric_limits<std::int64_t>::max();
    for (const auto& [host, time] : begun_) last_begin = std::max(last_begin, time);
    for (const auto& [host, time] : done_) first_done = std::min(first_done, time);
    return first_done < last_begin;
  }

 private:
  std::map<int, std::int64_t> begun_;
  std::map<int, std::int64_t> done_;
};

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
    for (const Burst& burst : channels[member.channel].bursts) {
      if (50 * burst.bytes > member.bytes) sizes.push_back(static_cast<double>(burst.bytes));
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

}  // namespace

double broken_share(const Exchanges& exchanges) {
  std::size_t broken = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    Barrier barrier;
    for (const Lane& lane : exchanges.lanes) {
      if (lane.beats[step]) barrier.add(lane.from, lane.to, *lane.beats[step]);
    }
    broken += barrier.is_broken() ? 1 : 0;
  }
  return share(broken, exchanges.steps.size());
}

std::optional<Exchanges> ring_steps(const Tempo& tempo, std::span<const Channel> channels,
                                    int hosts) {
  if (tempo.members.empty() || broken_share(align(tempo, channels)) < kOftenBroken) {
    return std::nullopt;
  }
  const double rounds = 2.0 * (hosts - 1);
  const double beats =
      rounds * round_bytes(tempo, channels) / static_cast<double>(tempo.members.front().bytes);
  const auto count = static_cast<std::size_t>(std::llround(beats));
  if (count < 2 || std::abs(beats - static_cast<double>(count)) > 0.03 * beats) return std::nullopt;
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

}  // namespace tw::flow
