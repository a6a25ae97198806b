// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::flow {
namespace {

constexpr double kMostUnits = 4.5;  ///< half rounds in a burst that still tells
constexpr double kUnitTolerance = 0.015;
constexpr std::size_t kFewestBursts = 20;
constexpr double kFitsWell = 0.85;
constexpr double kLeastShare = 0.5;  ///< of the bytes

/// The only host that `place` sends to, or nothing.
std::optional<int> successor(const Pattern& pattern, int place) {
  std::optional<int> next;
  for (int to = 0; to < pattern.size(); ++to) {
    if (pattern.at(place, to) <= 0) continue;
    if (next) return std::nullopt;
    next = to;
  }
  return next;
}

/// Places along the circle from place 0; empty when the successors do not form one circle.
std::vector<int> circle(const Pattern& pattern) {
  std::vector<int> order;
  int place = 0;
  for (int i = 0; i < pattern.size(); ++i) {
    order.push_back(place);
    const std::optional<int> next = successor(pattern, place);
    if (!next) return {};
    place = *next;
    if (place == 0 && i + 1 < pattern.size()) return {};
  }
  return place == 0 ? order : std::vector<int>{};
}

double spread(const Pattern& pattern) {
  double low = pattern.largest();
  for (const Pattern::Edge& edge : pattern.edges()) low = std::min(low, edge.bytes);
  return 1 - low / pattern.largest();
}

/// Bursts of up to four half rounds of a ring of `ranks`: 2(R-1) rounds carry an edge's bytes, and
/// some implementations cut each in two.
struct Rounds {
  std::size_t bursts = 0;
  std::size_t fitting = 0;  ///< of these, of a whole number of half rounds
  double share = 0;         ///< of all bytes that are in them
};

Rounds rounds_of(const Exchanges& exchanges, std::span<const Channel> channels, double ranks) {
  Rounds result;
  double inside = 0;
  double all = 0;
  for (const Lane& lane : exchanges.lanes) {
    const double unit = static_cast<double>(lane.bytes) / (4 * (ranks - 1));
    for (const Burst& burst : channels[lane.channel].bursts) {
      const auto bytes = static_cast<double>(burst.bytes);
      const double units = bytes / unit;
      all += bytes;
      if (units < 0.5 || units > kMostUnits) continue;
      inside += bytes;
      ++result.bursts;
      result.fitting += std::abs(units - std::round(units)) < kUnitTolerance ? 1 : 0;
    }
  }
  result.share = all > 0 ? inside / all : 0;
  return result;
}

bool fits(const Rounds& rounds) {
  return rounds.bursts >= kFewestBursts && rounds.share >= kLeastShare &&
         static_cast<double>(rounds.fitting) >= kFitsWell * static_cast<double>(rounds.bursts);
}

/// How many ranks each host holds: one, unless nearly all bursts have the sizes of a larger ring's
/// rounds. Several buckets of different sizes never do.
int ranks_per_host(const Exchanges& exchanges, std::span<const Channel> channels, int hosts) {
  if (hosts < 3) return 1;
  for (const int ranks : {1, 2, 4, 8}) {
    if (fits(rounds_of(exchanges, channels, hosts * ranks))) return ranks;
  }
  return 1;
}

}  // namespace

std::optional<Recognition> as_ring(const Pattern& pattern, const Exchanges& exchanges,
                                   std::span<const Channel> channels) {
  const std::vector<int> order = circle(pattern);
  if (order.empty() || !pattern.is_even(kEven)) return std::nullopt;
  const int on_each = ranks_per_host(exchanges, channels, pattern.size());
  const double n = on_each * pattern.size();
  const double edge = pattern.total() / pattern.size();
  Recognition result{.operation = "all_reduce",
                     .strategy = "ring",
                     .order = {},
                     .servers = {},
                     .starters = {},
                     .payload = edge * n / (2 * (n - 1)),
                     .fit = std::max(0.0, 1 - 5 * spread(pattern)),
                     .evidence = {}};
  for (const int place : order) result.order.push_back(pattern.host(place));
  result.starters = result.order;
  if (pattern.size() == 2) {
    result.fit *= 0.6;
    result.evidence =
        "both hosts send the payload once in each step; with two hosts a ring, a tree and all "
        "others look alike: ring is a guess, the bytes are not";
  } else {
    result.evidence = fmt::format(
        "each of {} hosts sends to exactly one other, in one circle, the same bytes within {:.1f} "
        "%; data flows one way only",
        pattern.size(), 100 * spread(pattern));
  }
  if (on_each > 1) {
    result.fit *= 0.8;
    result.evidence += fmt::format(
        "; bursts have the size of the {} rounds that {} ranks on each host make (a guess)",
        2 * (on_each * pattern.size() - 1), on_each);
  }
  return result;
}

}  // namespace tw::flow
