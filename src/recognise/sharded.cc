// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/sharded.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kSamePlace = 0.001;  ///< of a step's bytes: places of one pause in several steps
constexpr double kOftenThere = 0.3;   ///< of the steps: a place where a collective ends
constexpr double kSameSize = 0.02;    ///< how far collectives of one layer may differ
constexpr double kInThrees = 0.97;    ///< of the bytes in sizes that come in threes or twos
constexpr std::size_t kFewest = 5;    ///< collectives: a layer of its own, and what begins and ends
constexpr double kPauseShares[] = {0.25, 0.1, 0.04, 0};
constexpr int kMostJoined = 6;  ///< collectives without a pause that is ever seen

struct Kind {
  double size;
  std::size_t count;
};

bool is_about(double a, double b) { return std::abs(a - b) <= kSameSize * std::min(a, b); }

/// Sizes and how often each occurs, the most frequent first.
std::vector<Kind> kinds_of(const std::vector<double>& sizes) {
  std::vector<Kind> kinds;
  for (const double size : sizes) {
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const Kind& kind) { return is_about(kind.size, size); });
    if (known == kinds.end()) {
      kinds.push_back({size, 1});
    } else {
      ++known->count;
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.count > b.count; });
  return kinds;
}

/// Takes apart what holds several collectives of the most frequent size.
std::vector<double> split(const std::vector<double>& sizes, double unit) {
  std::vector<double> result;
  for (const double size : sizes) {
    const double times = std::round(size / unit);
    const bool is_several = times >= 2 && times <= kMostJoined && is_about(size, times * unit);
    for (int i = 0; i < (is_several ? static_cast<int>(times) : 1); ++i) {
      result.push_back(is_several ? unit : size);
    }
  }
  return result;
}

/// Median pause before a step.
double pause_before_steps(const rhythm::Lane& lane) {
  std::vector<double> pauses;
  const std::optional<rhythm::Beat>* before = nullptr;
  for (const std::optional<rhythm::Beat>& beat : lane.beats) {
    if (before != nullptr && *before && beat) {
      pauses.push_back(static_cast<double>(beat->start_ns - (*before)->end_ns));
    }
    before = &beat;
  }
  return pauses.empty() ? 0 : stats::median(std::move(pauses));
}

/// What a lane sends between the pauses of at least `least_ns` that many of its steps have.
std::vector<double> sizes_of(const rhythm::Lane& lane, const rhythm::Channel& channel,
                             double least_ns) {
  std::vector<double> places;
  double beats = 0;
  for (const std::optional<rhythm::Beat>& beat : lane.beats) {
    if (!beat || !beat->fits) continue;
    ++beats;
    double sent = 0;
    for (std::size_t i = beat->first_burst; i + 1 < beat->end_burst; ++i) {
      sent += static_cast<double>(channel.bursts[i].bytes);
      const auto pause =
          static_cast<double>(channel.bursts[i + 1].start_ns - channel.bursts[i].end_ns);
      if (pause >= least_ns) places.push_back(sent);
    }
  }
  std::sort(places.begin(), places.end());
  const auto all = static_cast<double>(lane.bytes);
  const double many = std::max(2.0, kOftenThere * beats);
  std::vector<double> sizes;
  double before = 0;
  for (std::size_t low = 0, high = 0; low < places.size(); low = high) {
    while (high < places.size() && places[high] - places[low] <= kSamePlace * all) ++high;
    const double place = places[(low + high) / 2];
    if (static_cast<double>(high - low) < many || place >= all * (1 - kSamePlace)) continue;
    sizes.push_back(place - before);
    before = place;
  }
  sizes.push_back(all - before);
  return sizes;
}

}  // namespace

std::optional<Shards> shards_of(std::vector<double> sizes, int hosts) {
  if (hosts < 3 || kinds_of(sizes).size() < 2) return std::nullopt;
  sizes = split(sizes, kinds_of(sizes).front().size);
  const std::vector<Kind> kinds = kinds_of(sizes);
  const auto rounds = static_cast<std::size_t>(hosts - 1);
  const bool are_rounds = std::all_of(kinds.begin(), kinds.end(),
                                      [&](const Kind& kind) { return kind.count % rounds == 0; });
  if (sizes.size() < kFewest || are_rounds) return std::nullopt;
  double all = 0;
  double in_threes = 0;
  bool has_layer = false;
  Shards result{.model = 0, .gathered = 0, .collectives = sizes.size()};
  for (const Kind& kind : kinds) {
    const double bytes = kind.size * static_cast<double>(kind.count);
    all += bytes;
    const bool is_layer = kind.count % 3 == 0;
    if (!is_layer && kind.count != 2) continue;
    has_layer |= is_layer;
    in_threes += bytes;
    result.model += is_layer ? bytes / 3 : bytes / 2;
    result.gathered += is_layer ? bytes * 2 / 3 : bytes / 2;
  }
  if (!has_layer || in_threes < kInThrees * all) return std::nullopt;
  result.model /= all;
  result.gathered /= all;
  return result;
}

namespace {

/// The same by pauses that are at least so long, in parts of those before steps: ranks wait for one
/// another inside a collective too, for a shorter time.
std::optional<Shards> find_shards_at(const rhythm::Steps& ring,
                                     std::span<const rhythm::Channel> channels, double share) {
  const auto hosts = static_cast<int>(rhythm::hosts_of(ring).size());
  std::vector<Shards> found;
  for (const rhythm::Lane& lane : ring.lanes) {
    const double least_ns = share * pause_before_steps(lane);
    auto one = shards_of(sizes_of(lane, channels[lane.channel], least_ns), hosts);
    if (one) found.push_back(*one);
  }
  if (found.empty() || 2 * found.size() <= ring.lanes.size()) return std::nullopt;
  std::sort(found.begin(), found.end(),
            [](const Shards& a, const Shards& b) { return a.model < b.model; });
  const Shards& middle = found[found.size() / 2];
  const auto agreeing = std::count_if(found.begin(), found.end(), [&](const Shards& one) {
    return is_about(one.model, middle.model);
  });
  if (2 * static_cast<std::size_t>(agreeing) <= ring.lanes.size()) return std::nullopt;
  return middle;
}

}  // namespace

std::optional<Shards> find_shards(const rhythm::Steps& ring,
                                  std::span<const rhythm::Channel> channels) {
  for (const double share : kPauseShares) {
    if (auto found = find_shards_at(ring, channels, share)) return found;
  }
  return std::nullopt;
}

}  // namespace tw::recognise
