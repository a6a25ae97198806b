// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/sharded.h"

#include "trainwire/recognise/likelihood.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kSamePlace = 0.001;  ///< of a step's bytes: places of one pause in several steps
constexpr double kOftenThere = 0.3;   ///< of the steps: a place where a collective ends
constexpr double kSameSize = 0.02;    ///< how far collectives of one layer may differ
constexpr double kInThrees = 0.97;    ///< of the bytes in sizes that come in threes or twos
constexpr std::size_t kFewest = 5;    ///< collectives: a layer of its own, and what begins and ends
constexpr double kPauseShares[] = {0.25, 0.1, 0.04, 0};
constexpr std::size_t kFewestPauses = 20;
constexpr std::size_t kMostPauses = 600;  ///< more tell no more
constexpr std::size_t kMostKinds = 4;     ///< sizes that are tried for layers
constexpr int kMostLayers = 200;
constexpr int kMostParts = 100;
constexpr double kSmallestHead = 0.1;  ///< of a layer
constexpr double kLargestHead = 20;
constexpr double kClearLead = 1;  ///< nats
constexpr int kMostJoined = 6;    ///< collectives without a pause that is ever seen

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

/// Whether so many of each size follow one another as the rounds of all-reduces do.
bool are_rounds(const std::vector<double>& sizes, int hosts) {
  const auto rounds = static_cast<std::size_t>(std::max(2, hosts - 1));
  for (std::size_t first = 0, next = 0; first < sizes.size(); first = next) {
    while (next < sizes.size() && is_about(sizes[first], sizes[next])) ++next;
    if ((next - first) % rounds != 0) return false;
  }
  return true;
}

/// The number of each size's kind, in the order in which they are first met.
template <typename Iterator>
std::vector<std::size_t> first_met(Iterator begin, Iterator end, const std::vector<Kind>& kinds) {
  std::vector<std::size_t> order;
  for (Iterator size = begin; size != end; ++size) {
    const auto kind = static_cast<std::size_t>(
        std::find_if(kinds.begin(), kinds.end(),
                     [&](const Kind& one) { return is_about(one.size, *size); }) -
        kinds.begin());
    if (std::find(order.begin(), order.end(), kind) == order.end()) order.push_back(kind);
  }
  return order;
}

/// Whether what comes first ends last: layers are gathered from the first to the last, and their
/// gradients scattered from the last to the first. Buckets are not met again.
bool is_mirrored(const std::vector<double>& sizes, const std::vector<Kind>& kinds) {
  return first_met(sizes.begin(), sizes.end(), kinds) ==
         first_met(sizes.rbegin(), sizes.rend(), kinds);
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

/// Nothing unless sizes come in threes, and those that begin the step end it.
std::optional<Shards> in_threes_of(const std::vector<double>& sizes, int hosts) {
  const std::vector<Kind> kinds = kinds_of(sizes);
  if (kinds.size() < 2 || sizes.size() < kFewest || are_rounds(sizes, hosts) ||
      !is_mirrored(sizes, kinds)) {
    return std::nullopt;
  }
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

}  // namespace

std::optional<Shards> shards_of(const std::vector<double>& sizes, int hosts) {
  if (auto found = in_threes_of(sizes, hosts)) return found;
  return in_threes_of(split(sizes, kinds_of(sizes).front().size), hosts);
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

/// What all lanes show inside their steps, in parts of a step's bytes.
struct Inside {
  std::vector<double> places;  ///< of pauses
  std::vector<double> sizes;   ///< of bursts
};

Inside inside_of(const rhythm::Steps& ring, std::span<const rhythm::Channel> channels,
                 double share) {
  Inside result;
  for (const rhythm::Lane& lane : ring.lanes) {
    const double least_ns = share * pause_before_steps(lane);
    const std::vector<flow::Burst>& bursts = channels[lane.channel].bursts;
    for (const std::optional<rhythm::Beat>& beat : lane.beats) {
      if (!beat || !beat->fits) continue;
      if (result.places.size() > kMostPauses) return result;
      double sent = 0;
      double last = 0;
      for (std::size_t i = beat->first_burst; i + 1 < beat->end_burst; ++i) {
        sent += static_cast<double>(bursts[i].bytes) / static_cast<double>(lane.bytes);
        if (static_cast<double>(bursts[i + 1].start_ns - bursts[i].end_ns) < least_ns) continue;
        result.places.push_back(sent);
        result.sizes.push_back(sent - last);
        last = sent;
      }
    }
  }
  return result;
}

/// How much likelier pauses are at these places of a step than anywhere, for each that is seen.
double odds_of(std::span<const double> pauses, std::span<const double> ends) {
  const auto hits = std::count_if(pauses.begin(), pauses.end(), [&](double pause) {
    const auto above = std::lower_bound(ends.begin(), ends.end(), pause - kSamePlace);
    return above != ends.end() && *above <= pause + kSamePlace;
  });
  const double share = static_cast<double>(hits) / static_cast<double>(pauses.size());
  const double anywhere = 2 * kSamePlace * static_cast<double>(ends.size());
  return share * std::log((1 - kAssumed.mistaken) / anywhere) +
         (1 - share) * std::log(kAssumed.mistaken);
}

/// The same of so many equal parts, whatever is best: rounds and pieces leave them.
double best_of_equal_parts(std::span<const double> pauses) {
  double best = 0;
  for (int parts = 2; parts <= kMostParts; ++parts) {
    std::vector<double> ends;
    for (int i = 1; i < parts; ++i) ends.push_back(static_cast<double>(i) / parts);
    best = std::max(best, odds_of(pauses, ends));
  }
  return best;
}

/// Layers of one size and a head of another, as transformers have them: the head is gathered before
/// all layers and scattered after them.
struct Layers {
  double size;
  int count;
  double head;
  int heads;  ///< 2 where it is kept, else 3

  /// Where its collectives end, rising.
  std::vector<double> ends() const {
    std::vector<double> result;
    for (int i = 0; i <= 3 * count; ++i) result.push_back(head + i * size);
    if (heads == 3) result.push_back(1 - head);
    return result;
  }
  Shards shards() const {
    const double layers = count * size;
    return {.model = head + layers,
            .gathered = (heads - 1) * head + 2 * layers,
            .collectives = static_cast<std::size_t>(3 * count + heads)};
  }
};

/// The sizes that most bursts have, in parts of a step.
std::vector<double> common_sizes(const std::vector<double>& sizes) {
  std::vector<double> result;
  for (const Kind& kind : kinds_of(sizes)) {
    if (result.size() == kMostKinds || kind.count < kFewest) break;
    std::vector<double> alike;
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(alike),
                 [&](double size) { return is_about(size, kind.size); });
    result.push_back(stats::median(std::move(alike)));
  }
  return result;
}

/// Where some collectives follow without a pause, and some pause inside: the layers whose ends
/// explain the pauses best.
std::optional<Shards> find_layers(const Inside& inside) {
  if (inside.places.size() < kFewestPauses) return std::nullopt;
  std::optional<Layers> best;
  double most = 0;
  for (const double size : common_sizes(inside.sizes)) {
    for (int count = 1; 3 * count * size < 1 && count <= kMostLayers; ++count) {
      for (const int heads : {2, 3}) {
        const Layers layers{size, count, (1 - 3 * count * size) / heads, heads};
        const double times = layers.head / size;
        const bool is_multiple =
            std::abs(times - std::round(times)) < kSameSize * std::max(1.0, times);
        if (is_multiple || times < kSmallestHead || times > kLargestHead) continue;
        const double odds = odds_of(inside.places, layers.ends());
        if (odds <= most) continue;
        most = odds;
        best = layers;
      }
    }
  }
  const auto is_clear = [&](double lead) {
    return best && kAssumed.independent * lead + std::log(kAssumed.threes) >= kClearLead;
  };
  if (!is_clear(most) || !is_clear(most - best_of_equal_parts(inside.places))) return std::nullopt;
  return best->shards();
}

}  // namespace

std::optional<Shards> find_shards(const rhythm::Steps& ring,
                                  std::span<const rhythm::Channel> channels) {
  for (const double share : kPauseShares) {
    if (auto found = find_shards_at(ring, channels, share)) return found;
  }
  for (const double share : kPauseShares) {
    if (auto found = find_layers(inside_of(ring, channels, share))) return found;
  }
  return std::nullopt;
}

}  // namespace tw::recognise
