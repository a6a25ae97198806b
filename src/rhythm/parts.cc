// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/parts.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr double kNearlyWhole = 0.03;  ///< how far a number of paces may be from one
constexpr std::size_t kMostClocks = 32;
constexpr std::size_t kFewestTicks = 6;
constexpr double kSameInSteps = 0.01;   ///< of its bytes, by which a connection's steps may differ
constexpr double kNearlyAlways = 0.85;  ///< of the steps
constexpr double kTwice = 1.5;     ///< of two paces: one is about that of two steps of the other
constexpr double kMostOfIt = 0.5;  ///< of a connection's bytes, in the steps that it keeps
/// Parts of the pause before a step, from its end, at which it may be cut: others begin a little earlier, or
/// end later.
constexpr double kCuts[] = {0.05, 0.2, 0.4, 0.6, 0.8};

/// What a connection had sent when.
class Sent {
 public:
  explicit Sent(const Channel& channel) {
    double all = 0;
    for (const flow::Burst& burst : channel.bursts) {
      starts_ns_.push_back(burst.start_ns);
      before_.push_back(all);
      all += static_cast<double>(burst.bytes);
    }
    before_.push_back(all);
  }

  double all() const { return before_.back(); }
  double until(std::int64_t time_ns) const {
    const auto next = std::lower_bound(starts_ns_.begin(), starts_ns_.end(), time_ns);
    return before_[static_cast<std::size_t>(next - starts_ns_.begin())];
  }

 private:
  std::vector<std::int64_t> starts_ns_;
  std::vector<double> before_;
};

/// Whether it sends the same from nearly each of these times to the next.
bool keeps_step(const Sent& sent, const std::vector<std::int64_t>& times_ns) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < times_ns.size(); ++i) {
    steps.push_back(sent.until(times_ns[i]) - sent.until(times_ns[i - 1]));
  }
  const double typical = stats::median(steps);
  const double inside = sent.until(times_ns.back()) - sent.until(times_ns.front());
  if (inside < kMostOfIt * sent.all()) return false;
  const auto alike = std::count_if(steps.begin(), steps.end(), [&](double step) {
    return std::abs(step - typical) <= kSameInSteps * typical;
  });
  return typical > 0 &&
         static_cast<double>(alike) >= kNearlyAlways * static_cast<double>(steps.size());
}

/// The times at which a pace's steps are cut.
std::vector<std::int64_t> cuts_of(const OwnPace& pace, double part) {
  std::vector<std::int64_t> times;
  for (const OwnPace::Rest& rest : pace.rests) {
    times.push_back(rest.end_ns - static_cast<std::int64_t>(
                                      part * static_cast<double>(rest.end_ns - rest.start_ns)));
  }
  return times;
}

/// Which of the connections keep the steps of this pace.
std::vector<bool> in_step(const std::vector<Sent>& sent, const OwnPace& pace) {
  std::vector<bool> result(sent.size(), false);
  for (const double part : kCuts) {
    const std::vector<std::int64_t> times = cuts_of(pace, part);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      result[i] = result[i] || keeps_step(sent[i], times);
    }
  }
  return result;
}

Channels chosen_of(const Channels& channels, const std::vector<bool>& chosen) {
  Channels result;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (chosen[i]) result.push_back(channels[i]);
  }
  return result;
}

/// A connection that pauses clearly, and which keep its steps.
struct Clock {
  std::size_t channel;
  double pace_ns;
  std::vector<bool> in_step;
};

std::vector<Clock> clocks_of(const Channels& channels, const std::vector<Paced>& paced) {
  std::vector<Sent> sent;
  for (const Channel& channel : channels) sent.emplace_back(channel);
  std::vector<Clock> clocks;
  for (const Paced& one : paced) {
    if (clocks.size() == kMostClocks) break;
    if (one.pace.rests.size() <= kFewestTicks) continue;
    clocks.push_back({.channel = static_cast<std::size_t>(one.channel - channels.data()),
                      .pace_ns = one.pace.period_ns,
                      .in_step = in_step(sent, one.pace)});
  }
  return clocks;
}

/// Which of those that are left keep the steps of a clock; no other clock of such a pace to which it is
/// not in step.
std::vector<bool> agreed_with(const Clock& clock, const std::vector<Clock>& clocks,
                              const std::vector<bool>& left) {
  std::vector<bool> result = clock.in_step;
  for (std::size_t i = 0; i < left.size(); ++i) result[i] = result[i] && left[i];
  for (const Clock& other : clocks) {
    const bool is_slower = other.pace_ns > kTwice * clock.pace_ns;
    const bool is_faster = clock.pace_ns > kTwice * other.pace_ns;
    if (!is_slower && !is_faster && !other.in_step[clock.channel]) result[other.channel] = false;
  }
  return result;
}

}  // namespace

std::vector<Paced> paced_of(const Channels& channels, std::int64_t gap_ns) {
  const std::optional<Channels> smooth = without_spacing(channels);
  std::vector<Paced> paced;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::optional<OwnPace> pace = own_pace(smooth ? (*smooth)[i] : channels[i], gap_ns);
    if (pace) paced.push_back({*pace, &channels[i]});
  }
  std::stable_sort(paced.begin(), paced.end(), [](const Paced& a, const Paced& b) {
    return a.pace.period_ns < b.pace.period_ns;
  });
  return paced;
}

std::vector<Part> parts_by_pace(const std::vector<Paced>& paced, double steps) {
  std::vector<Part> parts;
  for (const Paced& one : paced) {
    const double slack = std::max(kSamePeriod, steps / static_cast<double>(one.pace.beats));
    if (parts.empty() || one.pace.period_ns > (1 + slack) * parts.back().pace_ns)
      parts.emplace_back();
    parts.back().channels.push_back(*one.channel);
    parts.back().pace_ns = one.pace.period_ns;
  }
  return parts;
}

std::vector<Part> parts_by_bytes(Channels channels, double slack) {
  std::stable_sort(channels.begin(), channels.end(),
                   [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  std::vector<Part> parts;
  double first = 0;
  for (Channel& channel : channels) {
    const auto bytes = static_cast<double>(channel.bytes);
    if (parts.empty() || bytes > (1 + slack) * first) {
      parts.emplace_back();
      first = bytes;
    }
    parts.back().channels.push_back(std::move(channel));
  }
  return parts;
}

std::vector<Part> with_whole_steps(std::vector<Part> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size() && !parts[i].channels.empty(); ++j) {
      const double times = parts[j].pace_ns / parts[i].pace_ns;
      const double whole = std::round(times);
      const double slack = whole < 2 ? kSamePeriod : kNearlyWhole * whole;
      if (whole > 3 || std::abs(times - whole) > slack) continue;
      Channels& more = parts[i].channels;
      std::move(more.begin(), more.end(), std::back_inserter(parts[j].channels));
      more.clear();
    }
  }
  return parts;
}

std::vector<Part> parts_by_steps(const Channels& channels, const std::vector<Paced>& paced) {
  const std::vector<Clock> clocks = clocks_of(channels, paced);
  std::vector<Part> parts;
  std::vector<bool> left(channels.size(), true);
  while (true) {
    Part best;
    std::vector<bool> own;
    for (const Clock& clock : clocks) {
      std::vector<bool> in_step = agreed_with(clock, clocks, left);
      Part part{.pace_ns = clock.pace_ns, .channels = chosen_of(channels, in_step)};
      if (part.channels.size() < 2 || bytes_of(part.channels) <= bytes_of(best.channels)) continue;
      best = std::move(part);
      own = std::move(in_step);
    }
    if (own.empty()) break;
    parts.push_back(std::move(best));
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] && !own[i];
  }
  parts.push_back({.channels = chosen_of(channels, left)});
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.pace_ns < b.pace_ns; });
  return parts;
}

}  // namespace tw::rhythm
