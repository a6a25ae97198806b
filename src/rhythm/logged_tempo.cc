// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/logged_tempo.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::size_t kFewestSteps = 3;
constexpr double kLeastShare = 0.03;  ///< of the largest channel
constexpr double kSamePace = 0.1;     ///< how far the period may be off the log's

struct LoggedRange {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

/// Steps of all ranks together, in time order.
std::vector<LoggedRange> ranges_of(const imports::StepLog& log) {
  std::map<std::int64_t, LoggedRange> by_step;
  for (const imports::LoggedStep& step : log.steps) {
    const auto [place, is_new] =
        by_step.try_emplace(step.step, LoggedRange{step.start_ns, step.end_ns});
    place->second.start_ns = std::min(place->second.start_ns, step.start_ns);
    place->second.end_ns = std::max(place->second.end_ns, step.end_ns);
  }
  std::vector<LoggedRange> ranges;
  for (const auto& [number, range] : by_step) ranges.push_back(range);
  std::sort(ranges.begin(), ranges.end(),
            [](const LoggedRange& a, const LoggedRange& b) { return a.start_ns < b.start_ns; });
  return ranges;
}

/// Moments between steps that lie in the capture, the end of the last step included.
std::vector<std::int64_t> moments_between(const std::vector<LoggedRange>& ranges,
                                          std::span<const Channel> channels) {
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const Channel& channel : channels) {
    first = std::min(first, channel.bursts.front().start_ns);
    last = std::max(last, channel.bursts.back().end_ns);
  }
  std::vector<std::int64_t> moments;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const bool is_last = i + 1 == ranges.size();
    const std::int64_t moment =
        is_last ? ranges[i].end_ns
                : ranges[i].end_ns + (ranges[i + 1].start_ns - ranges[i].end_ns) / 2;
    if (moment >= first && (moment <= last || is_last)) moments.push_back(moment);
  }
  return moments;
}

/// Bytes sent until each of the moments, as if bursts were sent evenly.
std::vector<double> bytes_until(const std::vector<flow::Burst>& bursts,
                                const std::vector<std::int64_t>& moments) {
  std::vector<double> result;
  double before = 0;
  std::size_t next = 0;
  for (const std::int64_t moment : moments) {
    for (; next < bursts.size() && bursts[next].end_ns <= moment; ++next) {
      before += static_cast<double>(bursts[next].bytes);
    }
    double inside = 0;
    if (next < bursts.size() && bursts[next].start_ns < moment) {
      const flow::Burst& burst = bursts[next];
      inside = static_cast<double>(burst.bytes) * static_cast<double>(moment - burst.start_ns) /
               static_cast<double>(burst.end_ns - burst.start_ns);
    }
    result.push_back(before + inside);
  }
  return result;
}

/// What the channel typically sends in a step.
double step_bytes(const Channel& channel, const std::vector<std::int64_t>& moments) {
  const std::vector<double> until = bytes_until(channel.bursts, moments);
  std::vector<double> steps;
  for (std::size_t i = 1; i < until.size(); ++i) steps.push_back(until[i] - until[i - 1]);
  return stats::median(std::move(steps));
}

double median_period(const std::vector<std::int64_t>& moments) {
  std::vector<double> periods;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    periods.push_back(static_cast<double>(moments[i] - moments[i - 1]));
  }
  return stats::median(std::move(periods));
}

}  // namespace

std::optional<Tempo> logged_tempo(const imports::StepLog& log, std::span<const Channel> channels,
                                  std::int64_t gap_ns) {
  if (channels.empty()) return std::nullopt;
  const std::vector<std::int64_t> moments = moments_between(ranges_of(log), channels);
  if (moments.size() <= kFewestSteps) return std::nullopt;
  std::uint64_t largest = 0;
  for (const Channel& channel : channels) largest = std::max(largest, channel.bytes);
  std::vector<ChannelDistance> distances;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (static_cast<double>(channels[i].bytes) < kLeastShare * static_cast<double>(largest)) {
      continue;
    }
    const double bytes = step_bytes(channels[i], moments);
    if (bytes >= 1) distances.push_back({.channel = i, .bytes = bytes});
  }
  std::optional<Tempo> tempo = tempo_at(channels, distances, gap_ns);
  if (!tempo) return std::nullopt;
  const double period = median_period(moments);
  if (std::abs(tempo->period_ns - period) > kSamePace * period) return std::nullopt;
  return tempo;
}

}  // namespace tw::rhythm
