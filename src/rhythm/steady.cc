// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/steady.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr double kShortPauses = 0.25;  ///< of what is usual: far from pausing with the others

/// Half of the time in which the channel sends nothing lies in pauses of at least this length.
double usual_pause_ns(const Channel& channel) {
  std::vector<double> pauses;
  double silent = 0;
  std::int64_t end = channel.bursts.empty() ? 0 : channel.bursts.front().end_ns;
  for (const flow::Burst& burst : channel.bursts) {
    if (burst.start_ns > end) {
      pauses.push_back(static_cast<double>(burst.start_ns - end));
      silent += pauses.back();
    }
    end = std::max(end, burst.end_ns);
  }
  std::sort(pauses.begin(), pauses.end(), std::greater<>());
  double sum = 0;
  for (const double pause : pauses) {
    sum += pause;
    if (2 * sum >= silent) return pause;
  }
  return 0;
}

}  // namespace

std::optional<std::vector<Channel>> without_steady(std::span<const Channel> channels) {
  if (channels.empty()) return std::nullopt;
  std::vector<double> pauses;
  for (const Channel& channel : channels) pauses.push_back(usual_pause_ns(channel));
  const double least = kShortPauses * stats::median(pauses);
  std::vector<Channel> result;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (pauses[i] >= least) result.push_back(channels[i]);
  }
  if (result.size() == channels.size()) return std::nullopt;
  return result;
}

}  // namespace tw::rhythm
