// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/start_phase.h"

#include "trainwire/rhythm/rhythm.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr double kMoreBytes = 0.1;  ///< of a step: what a sender sent besides steps
constexpr std::size_t kFewestSteps = 3;
constexpr std::size_t kMostBeginnings = 1'000;  ///< compared with one another

/// The lane on which the sender of `lane` receives; null when there is none.
const Lane* lane_into(const Steps& ring, int host) {
  const auto found = std::find_if(ring.lanes.begin(), ring.lanes.end(),
                                  [&](const Lane& lane) { return lane.to == host; });
  return found != ring.lanes.end() ? &*found : nullptr;
}

/// Whether it mostly sends the next step before its host has received the one before.
bool runs_ahead(const Lane& lane, const Lane& into) {
  std::vector<double> waits;
  for (std::size_t step = 0; step + 1 < lane.beats.size(); ++step) {
    if (!into.beats[step] || !lane.beats[step + 1]) continue;
    waits.push_back(static_cast<double>(lane.beats[step + 1]->start_ns - into.beats[step]->end_ns));
  }
  return waits.size() >= kFewestSteps && stats::median(std::move(waits)) < 0;
}

bool has_more_bytes(const Lane& lane, const Steps& ring, std::span<const Channel> channels) {
  std::vector<double> bytes;
  for (const Lane& other : ring.lanes) {
    bytes.push_back(static_cast<double>(channels[other.channel].bytes));
  }
  return static_cast<double>(channels[lane.channel].bytes) >
         stats::median(std::move(bytes)) + kMoreBytes * static_cast<double>(lane.bytes);
}

/// Numbers of the bursts that begin a step: the first after the host has received the one before.
std::vector<std::size_t> beginnings(const std::vector<flow::Burst>& bursts, const Lane& into) {
  std::vector<std::size_t> result;
  for (const std::optional<Beat>& beat : into.beats) {
    if (!beat) continue;
    const auto next = std::lower_bound(
        bursts.begin(), bursts.end(), beat->end_ns,
        [](const flow::Burst& burst, std::int64_t time) { return burst.start_ns < time; });
    if (next != bursts.end()) result.push_back(static_cast<std::size_t>(next - bursts.begin()));
  }
  return result;
}

/// The burst with which the first whole step begins, by the place in a step that most beginnings
/// have; 0 when no two agree.
std::size_t first_of_steps(const std::vector<flow::Burst>& bursts, std::vector<std::size_t> begins,
                           double step_bytes) {
  begins.resize(std::min(begins.size(), kMostBeginnings));
  std::vector<double> before(bursts.size(), 0);
  for (std::size_t i = 1; i < bursts.size(); ++i) {
    before[i] = before[i - 1] + static_cast<double>(bursts[i - 1].bytes);
  }
  const double off = slack(step_bytes, 1);
  const auto agree = [&](std::size_t a, std::size_t b) {
    return std::abs(std::remainder(before[a] - before[b], step_bytes)) < off;
  };
  std::size_t best = 0;
  std::ptrdiff_t most = 1;
  for (const std::size_t begin : begins) {
    const std::ptrdiff_t votes = std::count_if(
        begins.begin(), begins.end(), [&](std::size_t other) { return agree(begin, other); });
    if (votes > most) {
      most = votes;
      best = begin;
    }
  }
  for (std::size_t i = 0; i < best; ++i) {
    if (agree(i, best)) return i;
  }
  return best;
}

/// Beats of the channel from burst number `first` on.
std::vector<Beat> beats_from(const Channel& channel, std::size_t first, double step_bytes,
                             std::int64_t gap_ns) {
  Channel rest = channel;
  rest.bursts.erase(rest.bursts.begin(), rest.bursts.begin() + static_cast<std::ptrdiff_t>(first));
  rest.beginning = Beginning::Seen;
  const ByteStream stream(rest, {}, gap_ns);
  std::vector<Beat> beats = stream.beats(stream.fit(step_bytes));
  for (Beat& beat : beats) {
    beat.first_burst += first;
    beat.end_burst += first;
  }
  return beats;
}

}  // namespace

std::optional<Tempo> with_start_phases(const Tempo& tempo, const Steps& ring,
                                       std::span<const Channel> channels, std::int64_t gap_ns) {
  std::optional<Tempo> moved;
  for (const Lane& lane : ring.lanes) {
    const Lane* into = lane_into(ring, lane.from);
    if (into == nullptr || !runs_ahead(lane, *into) || !has_more_bytes(lane, ring, channels)) {
      continue;
    }
    const Channel& channel = channels[lane.channel];
    const auto bytes = static_cast<double>(lane.bytes);
    const std::size_t first =
        first_of_steps(channel.bursts, beginnings(channel.bursts, *into), bytes);
    if (first == 0) continue;
    std::vector<Beat> beats = beats_from(channel, first, bytes, gap_ns);
    if (beats.size() < kFewestSteps) continue;
    if (!moved) moved = tempo;
    for (Member& member : moved->members) {
      if (member.channel == lane.channel) member.beats = beats;
    }
  }
  return moved;
}

}  // namespace tw::rhythm
