// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/steps.h"

#include "trainwire/rhythm/lockstep.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr double kLeastShare = 0.01;    ///< of the largest lane
constexpr double kNumberedAlike = 0.9;  ///< of a step

double middle(const Beat& beat) {
  return (static_cast<double>(beat.start_ns) + static_cast<double>(beat.end_ns)) / 2;
}

/// The step numbers of a reference channel in time, continued at its mean pace on both sides.
class Ruler {
 public:
  Ruler(const std::vector<Beat>& beats, double period_ns) : period_(period_ns) {
    for (const Beat& beat : beats) marks_.push_back(middle(beat));
  }
  /// Nearest mark.
  std::int64_t step(double time) const {
    if (time < marks_.front()) return -std::llround((marks_.front() - time) / period_);
    const auto last = static_cast<std::int64_t>(marks_.size()) - 1;
    if (time > marks_.back()) return last + std::llround((time - marks_.back()) / period_);
    const auto above = std::lower_bound(marks_.begin(), marks_.end(), time);
    auto number = static_cast<std::int64_t>(above - marks_.begin());
    if (number > 0 && time - *(above - 1) < *above - time) --number;
    return number;
  }
  double time(std::int64_t step) const {
    const auto last = static_cast<std::int64_t>(marks_.size()) - 1;
    if (step < 0) return marks_.front() + static_cast<double>(step) * period_;
    if (step > last) return marks_.back() + static_cast<double>(step - last) * period_;
    return marks_[static_cast<std::size_t>(step)];
  }

 private:
  double period_;
  std::vector<double> marks_;
};

/// Step number of each beat. A channel may lag behind the reference by a constant part of the
/// period, which is taken off first.
std::vector<std::int64_t> numbers(const std::vector<Beat>& beats, const Ruler& ruler) {
  std::vector<double> lags;
  for (const Beat& beat : beats) {
    lags.push_back(middle(beat) - ruler.time(ruler.step(middle(beat))));
  }
  const double lag = stats::median(std::move(lags));
  std::vector<std::int64_t> result;
  for (const Beat& beat : beats) result.push_back(ruler.step(middle(beat) - lag));
  return result;
}

std::uint64_t median_bytes(const std::vector<Beat>& beats) {
  std::vector<double> sizes;
  for (const Beat& beat : beats) {
    if (beat.fits) sizes.push_back(static_cast<double>(beat.bytes));
  }
  return sizes.empty() ? 0 : static_cast<std::uint64_t>(stats::median(std::move(sizes)));
}

/// From the first to the last of the members' first starts, and of their last ends, in steps.
struct Spread {
  double first;
  double last;
};

Spread spread_of(const Tempo& tempo) {
  const Member& any = tempo.members.front();
  std::int64_t first[2] = {any.beats.front().start_ns, any.beats.front().start_ns};
  std::int64_t last[2] = {any.beats.back().end_ns, any.beats.back().end_ns};
  for (const Member& member : tempo.members) {
    first[0] = std::min(first[0], member.beats.front().start_ns);
    first[1] = std::max(first[1], member.beats.front().start_ns);
    last[0] = std::min(last[0], member.beats.back().end_ns);
    last[1] = std::max(last[1], member.beats.back().end_ns);
  }
  return {static_cast<double>(first[1] - first[0]) / tempo.period_ns,
          static_cast<double>(last[1] - last[0]) / tempo.period_ns};
}

bool have_equally_many_beats(const Tempo& tempo) {
  return std::all_of(tempo.members.begin(), tempo.members.end(), [&](const Member& member) {
    return member.beats.size() == tempo.members.front().beats.size();
  });
}

/// Whether beat k of every member is step k: they have equally many, and all begin, or all end,
/// within less than a step of each other. (Behind a slow link others are ahead by several rounds.)
bool is_numbered_alike(const Tempo& tempo) {
  const Spread spread = spread_of(tempo);
  return have_equally_many_beats(tempo) &&
         (spread.first < kNumberedAlike || spread.last < kNumberedAlike);
}

/// Whether that may be so because the capture saw all that everybody sent, and beats hold it.
bool may_be_counted(const Tempo& tempo, std::span<const Channel> channels) {
  return have_equally_many_beats(tempo) &&
         std::all_of(tempo.members.begin(), tempo.members.end(), [&](const Member& member) {
           const Channel& channel = channels[member.channel];
           const auto bytes = static_cast<double>(member.bytes);
           const double left = static_cast<double>(channel.bytes) -
                               static_cast<double>(member.beats.size()) * bytes;
           return channel.beginning == Beginning::Seen && left < bytes / 2;
         });
}

std::vector<std::int64_t> counted(const std::vector<Beat>& beats) {
  std::vector<std::int64_t> result(beats.size());
  std::iota(result.begin(), result.end(), 0);
  return result;
}

const Member& reference(const Tempo& tempo) {
  return *std::max_element(tempo.members.begin(), tempo.members.end(),
                           [](const Member& a, const Member& b) {
                             return a.bytes * a.beats.size() < b.bytes * b.beats.size();
                           });
}

struct Numbered {
  const Member* member;
  std::uint64_t bytes;
  std::vector<std::int64_t> steps;
};

/// The numbers that lanes have, rising, from the first to the last step that lanes with most of the
/// bytes have. A job that paused, or a clock that was set, leaves any number of periods without a
/// step: none of them takes memory.
std::vector<std::int64_t> numbers_in_use(const std::vector<Numbered>& lanes) {
  std::map<std::int64_t, double> weight;
  double all = 0;
  for (const Numbered& lane : lanes) {
    all += static_cast<double>(lane.bytes);
    for (const std::int64_t step : lane.steps) weight[step] += static_cast<double>(lane.bytes);
  }
  const auto has_most = [&](const auto& entry) { return entry.second >= all / 2; };
  const auto first = std::find_if(weight.begin(), weight.end(), has_most);
  const auto last = std::find_if(weight.rbegin(), weight.rend(), has_most).base();
  std::vector<std::int64_t> result;
  for (auto it = first; it != weight.end() && it != last; ++it) result.push_back(it->first);
  return result;
}

ExchangeStep step_of(const std::vector<Lane>& lanes, std::size_t step) {
  ExchangeStep result{.start_ns = 0, .end_ns = 0, .bytes = 0};
  bool is_first = true;
  for (const Lane& lane : lanes) {
    const std::optional<Beat>& beat = lane.beats[step];
    if (!beat) continue;
    result.start_ns = is_first ? beat->start_ns : std::min(result.start_ns, beat->start_ns);
    result.end_ns = is_first ? beat->end_ns : std::max(result.end_ns, beat->end_ns);
    result.bytes += beat->bytes;
    is_first = false;
  }
  return result;
}

void remove_empty_steps(Steps& exchanges) {
  std::size_t kept = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    if (exchanges.steps[step].bytes == 0) continue;
    exchanges.steps[kept] = exchanges.steps[step];
    for (Lane& lane : exchanges.lanes) lane.beats[kept] = lane.beats[step];
    ++kept;
  }
  exchanges.steps.resize(kept);
  for (Lane& lane : exchanges.lanes) lane.beats.resize(kept);
}

enum class By { Count, Time };

Steps numbered(const Tempo& tempo, std::span<const Channel> channels, By by) {
  const Ruler ruler(reference(tempo).beats, tempo.period_ns);
  std::vector<Numbered> numbered;
  std::uint64_t largest = 0;
  for (const Member& member : tempo.members) {
    const std::uint64_t bytes = median_bytes(member.beats);
    numbered.push_back(
        {&member, bytes, by == By::Count ? counted(member.beats) : numbers(member.beats, ruler)});
    largest = std::max(largest, bytes);
  }
  std::erase_if(numbered, [&](const Numbered& lane) {
    return static_cast<double>(lane.bytes) < kLeastShare * static_cast<double>(largest);
  });
  const std::vector<std::int64_t> used = numbers_in_use(numbered);
  Steps result{.lanes = {}, .steps = {}, .tempo = {}};
  for (const Numbered& from : numbered) {
    const Channel& channel = channels[from.member->channel];
    Lane lane{.from = channel.from,
              .to = channel.to,
              .channel = from.member->channel,
              .bytes = from.bytes,
              .beats = std::vector<std::optional<Beat>>(used.size())};
    for (std::size_t i = 0; i < from.steps.size(); ++i) {
      const auto place = std::lower_bound(used.begin(), used.end(), from.steps[i]);
      if (place == used.end() || *place != from.steps[i]) continue;
      lane.beats[static_cast<std::size_t>(place - used.begin())] = from.member->beats[i];
    }
    result.lanes.push_back(std::move(lane));
  }
  for (std::size_t step = 0; step < used.size(); ++step) {
    result.steps.push_back(step_of(result.lanes, step));
  }
  remove_empty_steps(result);
  return result;
}

}  // namespace

Steps align(Tempo tempo, std::span<const Channel> channels) {
  Steps result{.lanes = {}, .steps = {}, .tempo = {}};
  if (!tempo.members.empty()) {
    const bool is_alike = is_numbered_alike(tempo);
    result = numbered(tempo, channels, is_alike ? By::Count : By::Time);
    if (!is_alike && may_be_counted(tempo, channels)) {
      // Unless some are done before others have begun then.
      Steps counted = numbered(tempo, channels, By::Count);
      if (early_share(counted) <= early_share(result)) result = std::move(counted);
    }
  }
  tempo.members.clear();
  result.tempo = std::move(tempo);
  return result;
}

Steps only(const Steps& exchanges, const std::vector<bool>& keep) {
  Steps result{.lanes = {}, .steps = {}, .tempo = exchanges.tempo};
  for (std::size_t i = 0; i < exchanges.lanes.size(); ++i) {
    if (keep[i]) result.lanes.push_back(exchanges.lanes[i]);
  }
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    result.steps.push_back(step_of(result.lanes, step));
  }
  remove_empty_steps(result);
  return result;
}

std::vector<PairBytes> pair_bytes(const Steps& exchanges) {
  std::map<std::pair<int, int>, double> sums;
  for (const Lane& lane : exchanges.lanes) {
    sums[{lane.from, lane.to}] += static_cast<double>(lane.bytes);
  }
  std::vector<PairBytes> result;
  for (const auto& [hosts, bytes] : sums) result.push_back({hosts.first, hosts.second, bytes});
  return result;
}

double typical_exchange_ns(const Steps& exchanges) {
  std::vector<double> lengths;
  for (const ExchangeStep& step : exchanges.steps) {
    lengths.push_back(static_cast<double>(step.end_ns - step.start_ns));
  }
  return lengths.empty() ? 0 : stats::median(std::move(lengths));
}

std::vector<int> hosts_of(const Steps& exchanges) {
  std::set<int> hosts;
  for (const Lane& lane : exchanges.lanes) {
    hosts.insert(lane.from);
    hosts.insert(lane.to);
  }
  return {hosts.begin(), hosts.end()};
}

std::optional<Interval> pair_interval(const Steps& exchanges, int from, int to, std::size_t step) {
  std::optional<Interval> result;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.from != from || lane.to != to || !lane.beats[step]) continue;
    const Beat& beat = *lane.beats[step];
    if (!result) result = {beat.start_ns, beat.end_ns};
    result->start_ns = std::min(result->start_ns, beat.start_ns);
    result->end_ns = std::max(result->end_ns, beat.end_ns);
  }
  return result;
}

}  // namespace tw::rhythm
