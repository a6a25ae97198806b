// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/iterations.h"

#include "trainwire/base/units.h"
#include "trainwire/flow/bursts.h"
#include "trainwire/stats/estimate.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace tw::diagnose {
namespace {

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Bursts of several flows, in time order.
std::vector<flow::Burst> bursts_of(const gather::Captured& traffic,
                                   const std::vector<std::size_t>& flows) {
  std::vector<flow::Burst> bursts;
  for (const std::size_t i : flows) {
    bursts.insert(bursts.end(), traffic.flows[i].bursts.begin(), traffic.flows[i].bursts.end());
  }
  flow::sort_by_start(bursts);
  return bursts;
}

std::vector<std::size_t> all_flows(const gather::Captured& traffic) {
  std::vector<std::size_t> flows(traffic.flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) flows[i] = i;
  return flows;
}

/// The part of a burst that lies in [begin, end), as if it were sent evenly.
double share_inside(const flow::Burst& burst, std::int64_t begin, std::int64_t end) {
  if (burst.end_ns <= burst.start_ns) return burst.start_ns >= begin && burst.start_ns < end;
  const std::int64_t low = std::max(begin, burst.start_ns);
  const std::int64_t high = std::min(end, burst.end_ns);
  if (high <= low) return 0;
  return static_cast<double>(high - low) / static_cast<double>(burst.end_ns - burst.start_ns);
}

/// Adds up bytes and packets of each step, and of what lies before and after all of them.
class StepCounter {
 public:
  explicit StepCounter(std::vector<Iteration>& steps) : steps_(steps), during_(steps.size()) {}

  /// REQUIRES: in time order, as the bursts of one flow are.
  void add(std::span<const flow::Burst> bursts) {
    std::int64_t longest = 0;
    for (const flow::Burst& burst : bursts)
      longest = std::max(longest, burst.end_ns - burst.start_ns);
    std::size_t first = 0;
    for (const flow::Burst& burst : bursts) {
      add_part(all_, burst, 1);
      add_part(before_, burst, share_inside(burst, INT64_MIN, steps_.front().start_ns));
      add_part(after_, burst, share_inside(burst, steps_.back().end_ns, INT64_MAX));
      while (first < steps_.size() && steps_[first].end_ns < burst.start_ns - longest) ++first;
      for (std::size_t i = first; i < steps_.size(); ++i) {
        if (steps_[i].start_ns > burst.end_ns) break;
        // A burst that ends exactly where a step ends belongs to it.
        add_part(during_[i], burst,
                 share_inside(burst, steps_[i].start_ns,
                              steps_[i].end_ns + (burst.end_ns == burst.start_ns)));
      }
    }
  }

  void finish(Iterations& iterations) const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].bytes = rounded(during_[i].bytes);
      steps_[i].packets = rounded(during_[i].packets);
    }
    iterations.bytes_before = rounded(before_.bytes);
    iterations.bytes_after = rounded(after_.bytes);
    iterations.bytes_during = rounded(all_.bytes - before_.bytes - after_.bytes);
    iterations.packets_before = rounded(before_.packets);
    iterations.packets_after = rounded(after_.packets);
    iterations.packets_during = rounded(all_.packets - before_.packets - after_.packets);
  }

 private:
  struct Amount {
    double bytes = 0;
    double packets = 0;
  };

  static void add_part(Amount& sum, const flow::Burst& burst, double part) {
    sum.bytes += part * static_cast<double>(burst.bytes);
    sum.packets += part * static_cast<double>(burst.packets);
  }
  static std::uint64_t rounded(double value) {
    return static_cast<std::uint64_t>(std::llround(value));
  }

  std::vector<Iteration>& steps_;
  std::vector<Amount> during_;
  Amount before_;
  Amount after_;
  Amount all_;
};

void count(Iterations& iterations, const gather::Captured& traffic,
           const std::vector<std::size_t>& flows) {
  if (iterations.steps.empty()) return;
  StepCounter counter(iterations.steps);
  for (const std::size_t i : flows) counter.add(traffic.flows[i].bursts);
  counter.finish(iterations);
}

std::vector<double> lengths(const std::vector<Iteration>& steps) {
  std::vector<double> result;
  for (const Iteration& step : steps) result.push_back(seconds_of(step.end_ns - step.start_ns));
  return result;
}

/// For times in time order, `together` of them of one step.
stats::BootstrapOptions blocks_of(const std::vector<double>& times, std::size_t together) {
  const double steps = static_cast<double>(times.size()) / static_cast<double>(together);
  return {.block = static_cast<std::size_t>(std::lround(std::cbrt(steps))) * together};
}

/// Period and its interval.
void set_period(Iterations& iterations, const std::vector<double>& times,
                const stats::BootstrapOptions& blocks) {
  if (times.empty()) return;
  const stats::Estimate period = stats::median_estimate(times, blocks);
  iterations.median_s = period.value;
  iterations.ci_low_s = period.low;
  iterations.ci_high_s = period.high;
  iterations.p99_s = stats::quantile(times, 0.99);
  iterations.usual_s = stats::usual(times);
  iterations.mean_s =
      std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

/// Gap and exchange from the steps: nothing moves between the end of one exchange, or the start of
/// the step where that is later, and the start of the next. The first is start-up, and on the wire
/// its beginning is not seen.
void set_phases(Iterations& iterations) {
  if (iterations.steps.empty()) return;
  std::vector<double> gaps;
  std::vector<double> exchanges;
  std::int64_t silent_since = iterations.steps.front().start_ns;
  for (const Iteration& step : iterations.steps) {
    silent_since = std::max(silent_since, step.start_ns);
    gaps.push_back(seconds_of(std::max<std::int64_t>(0, step.exchange_start_ns - silent_since)));
    silent_since = step.exchange_end_ns;
    exchanges.push_back(seconds_of(step.exchange_end_ns - step.exchange_start_ns));
  }
  const double first = exchanges.front();
  if (gaps.size() > 2) {
    gaps.erase(gaps.begin());
    exchanges.erase(exchanges.begin());
  }
  iterations.compute_gap_s = stats::median(std::move(gaps));
  iterations.exchange_s = stats::median(std::move(exchanges));
  iterations.first_untypical =
      iterations.steps.size() > 2 &&
      (first > 1.5 * iterations.exchange_s || first < iterations.exchange_s / 1.5);
}

std::string tempo_evidence(const rhythm::Steps& exchanges, std::size_t flows) {
  const rhythm::Tempo& tempo = exchanges.tempo;
  std::vector<double> bytes;
  for (const rhythm::ExchangeStep& step : exchanges.steps) {
    bytes.push_back(static_cast<double>(step.bytes));
  }
  std::string text = fmt::format(
      "{:.0f} % of the bytes of {} flows repeat in equal amounts ({} per step, varying by {:.2f} "
      "%)",
      100 * tempo.share, flows, readable(Bytes(std::llround(stats::median(bytes)))),
      100 * stats::variation(bytes));
  text += fmt::format("; the pause before a step is the longest in {:.0f} % of them",
                      100 * tempo.dominance);
  if (tempo.ratio > 0) text += fmt::format(", {:.1f} times the longest inside", tempo.ratio);
  return text;
}

/// Grows with the number of steps, their share of the bytes, and how clear the pauses are.
double confidence_of(const rhythm::Steps& exchanges) {
  const auto n = static_cast<double>(exchanges.steps.size());
  const double clear =
      std::clamp(std::max(exchanges.tempo.dominance, exchanges.tempo.likeness), 0.0, 1.0);
  return std::min(1.0, exchanges.tempo.share) * (0.5 + 0.5 * clear) * n / (n + 1);
}

/// From the host's first byte, sent or received, to the last that it receives; all hosts' when it
/// receives none.
rhythm::Interval seen_by(const rhythm::Steps& exchanges, int host, std::size_t step) {
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> end;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const std::optional<rhythm::Beat>& beat = lane.beats[step];
    if (!beat || (lane.from != host && lane.to != host)) continue;
    start = std::min(start.value_or(beat->start_ns), beat->start_ns);
    if (lane.to == host) end = std::max(end.value_or(beat->end_ns), beat->end_ns);
  }
  const rhythm::ExchangeStep& all = exchanges.steps[step];
  return {start.value_or(all.start_ns), end.value_or(all.end_ns)};
}

/// From the first byte that a host sends or receives to the last, of the host for which that is
/// longest. Not of all together: behind a slow link some begin the next step while others end this.
rhythm::Interval longest_exchange(const rhythm::Steps& exchanges, std::size_t step) {
  std::map<int, rhythm::Interval> of_host;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const std::optional<rhythm::Beat>& beat = lane.beats[step];
    if (!beat) continue;
    for (const int host : {lane.from, lane.to}) {
      rhythm::Interval& own =
          of_host.try_emplace(host, rhythm::Interval{beat->start_ns, beat->end_ns}).first->second;
      own.start_ns = std::min(own.start_ns, beat->start_ns);
      own.end_ns = std::max(own.end_ns, beat->end_ns);
    }
  }
  rhythm::Interval longest{exchanges.steps[step].start_ns, exchanges.steps[step].start_ns};
  for (const auto& [host, own] : of_host) {
    if (own.end_ns - own.start_ns > longest.end_ns - longest.start_ns) longest = own;
  }
  return longest;
}

/// Step times of every host, step by step: from the last byte it receives in one to the last in the
/// next.
std::vector<double> host_periods(const rhythm::Steps& exchanges) {
  const std::vector<int> hosts = rhythm::hosts_of(exchanges);
  std::vector<double> times;
  for (std::size_t step = 1; step < exchanges.steps.size(); ++step) {
    for (const int host : hosts) {
      times.push_back(seconds_of(seen_by(exchanges, host, step).end_ns -
                                 seen_by(exchanges, host, step - 1).end_ns));
    }
  }
  return times;
}

}  // namespace

Iterations iterations_of(const rhythm::Steps& exchanges, int host, const gather::Captured& traffic,
                         const std::vector<std::size_t>& flows) {
  Iterations result;
  std::vector<rhythm::Interval> own;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    own.push_back(seen_by(exchanges, host, step));
  }
  std::vector<double> gaps;
  for (std::size_t i = 1; i < own.size(); ++i) {
    gaps.push_back(
        static_cast<double>(std::max<std::int64_t>(0, own[i].start_ns - own[i - 1].end_ns)));
  }
  const std::int64_t gap =
      gaps.empty() ? 0 : static_cast<std::int64_t>(stats::median(std::move(gaps)));
  std::int64_t start =
      own.empty() ? 0 : std::max(traffic.totals.first_ns, own.front().start_ns - gap);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::int64_t end = std::max(start, own[i].end_ns);
    const rhythm::Interval exchange = longest_exchange(exchanges, i);
    result.steps.push_back({.start_ns = start,
                            .end_ns = end,
                            .exchange_start_ns = exchange.start_ns,
                            .exchange_end_ns = exchange.end_ns,
                            .bytes = 0,
                            .packets = 0});
    start = end;
  }
  count(result, traffic, flows);
  for (std::size_t i = 0; i < exchanges.steps.size(); ++i) {
    result.steps[i].bytes = exchanges.steps[i].bytes;
  }
  set_phases(result);
  const std::vector<double> times = host_periods(exchanges);
  const std::size_t together = times.empty() ? 1 : rhythm::hosts_of(exchanges).size();
  const std::vector<double> periods = times.empty() ? lengths(result.steps) : times;
  set_period(result, periods, blocks_of(periods, together));
  result.confidence = confidence_of(exchanges);
  result.evidence = tempo_evidence(exchanges, flows.size());
  return result;
}

Iterations iterations_of(const recognise::Pulls& pulls, const gather::Captured& traffic,
                         const std::vector<std::size_t>& flows) {
  Iterations result;
  std::vector<const std::vector<recognise::Pull>*> by_count;
  for (const auto& [host, own] : pulls.by_host) by_count.push_back(&own);
  if (by_count.empty()) return result;
  std::sort(by_count.begin(), by_count.end(),
            [](const auto* a, const auto* b) { return a->size() < b->size(); });
  const std::vector<recognise::Pull>& typical = *by_count[by_count.size() / 2];
  std::int64_t start = typical.front().start_ns;
  if (typical.size() > 1) start -= typical[1].start_ns - typical[0].end_ns;
  start = std::max(start, traffic.totals.first_ns);
  for (const recognise::Pull& pull : typical) {
    const std::int64_t end = std::max(start, pull.end_ns);
    result.steps.push_back({.start_ns = start,
                            .end_ns = end,
                            .exchange_start_ns = std::clamp(pull.start_ns, start, end),
                            .exchange_end_ns = end,
                            .bytes = 0,
                            .packets = 0});
    start = end;
  }
  count(result, traffic, flows);
  set_phases(result);
  std::vector<double> times;
  for (const std::vector<recognise::Pull>* own : by_count) {
    for (std::size_t i = 1; i < own->size(); ++i) {
      times.push_back(seconds_of((*own)[i].end_ns - (*own)[i - 1].end_ns));
    }
  }
  set_period(result, times, blocks_of(times, 1));
  result.confidence = 0.6 * pulls.regularity;
  result.evidence = fmt::format(
      "asynchronous: {} hosts pull {} each, about every {}; steps are those of the host with the "
      "median number of pulls",
      pulls.by_host.size(), readable(Bytes(std::llround(pulls.bytes))),
      readable(from_seconds(result.median_s)));
  return result;
}

namespace {

/// Mean over the ranks, of the steps that all of them have logged. The first is start-up, unless a
/// run of ours has left its warm-up out already.
struct LoggedTimes {
  std::vector<double> all = {};
  std::vector<double> told = {};  ///< averages of several steps once each
};

LoggedTimes logged_times(const imports::StepLog& log) {
  struct Step {
    std::vector<double> lengths = {};
    bool is_shared = true;
  };
  std::map<std::int64_t, Step> by_step;
  std::set<int> ranks;
  for (const imports::LoggedStep& step : log.steps) {
    Step& known = by_step[step.step];
    known.lengths.push_back(seconds_of(step.end_ns - step.start_ns));
    known.is_shared = known.is_shared && step.is_shared;
    ranks.insert(step.rank);
  }
  if (by_step.size() > 2 && log.format != imports::kOwnFormat) by_step.erase(by_step.begin());
  LoggedTimes times;
  for (const auto& [number, step] : by_step) {
    if (step.lengths.size() < ranks.size()) continue;
    times.all.push_back(std::accumulate(step.lengths.begin(), step.lengths.end(), 0.0) /
                        static_cast<double>(step.lengths.size()));
    if (!step.is_shared) times.told.push_back(times.all.back());
  }
  return times;
}

/// Averages of several steps say how they vary among themselves, and two values of nothing.
void set_logged_period(Iterations& iterations, const LoggedTimes& times) {
  constexpr std::size_t kFewest = 3;
  set_period(iterations, times.all, {});
  if (times.told.size() + 1 < times.all.size()) iterations.averages = times.told.size();
  if (times.told.size() < kFewest) {
    iterations.ci_low_s = iterations.ci_high_s = {};
    return;
  }
  const stats::Estimate of_told = stats::median_estimate(times.told);
  iterations.ci_low_s = of_told.low;
  iterations.ci_high_s = of_told.high;
}

}  // namespace

Iterations iterations_of(const imports::StepLog& log, const gather::Captured& traffic,
                         const std::vector<std::size_t>& flows) {
  std::map<std::int64_t, Iteration> by_step;
  for (const imports::LoggedStep& step : log.steps) {
    const auto [place, is_new] = by_step.try_emplace(
        step.step, Iteration{step.start_ns, step.end_ns, step.start_ns, step.end_ns, 0, 0});
    if (is_new) continue;
    place->second.start_ns = std::min(place->second.start_ns, step.start_ns);
    place->second.end_ns = std::max(place->second.end_ns, step.end_ns);
  }
  Iterations result;
  result.from_log = true;
  result.confidence = 1;
  for (const auto& [number, step] : by_step) result.steps.push_back(step);
  std::sort(result.steps.begin(), result.steps.end(),
            [](const Iteration& a, const Iteration& b) { return a.start_ns < b.start_ns; });
  const std::vector<std::size_t> counted = flows.empty() ? all_flows(traffic) : flows;
  const std::vector<flow::Burst> bursts = bursts_of(traffic, counted);
  std::int64_t before_ends = 0;
  for (Iteration& step : result.steps) {
    // While the first rank begins a step, others may still end the one before.
    const bool tail = before_ends > step.start_ns &&
                      before_ends - step.start_ns < (step.end_ns - step.start_ns) / 2;
    const std::int64_t from = tail ? before_ends : step.start_ns;
    before_ends = step.end_ns;
    const auto first = std::lower_bound(
        bursts.begin(), bursts.end(), from,
        [](const flow::Burst& burst, std::int64_t time) { return burst.start_ns < time; });
    step.exchange_start_ns =
        first != bursts.end() && first->start_ns < step.end_ns ? first->start_ns : step.end_ns;
    step.exchange_end_ns = step.exchange_start_ns;
    for (auto burst = first; burst != bursts.end() && burst->start_ns < step.end_ns; ++burst) {
      step.exchange_end_ns = std::max(step.exchange_end_ns, std::min(burst->end_ns, step.end_ns));
    }
  }
  count(result, traffic, counted);
  set_phases(result);
  set_logged_period(result, logged_times(log));
  result.evidence = fmt::format("{} steps of the program's own log", result.steps.size());
  return result;
}

}  // namespace tw::diagnose
