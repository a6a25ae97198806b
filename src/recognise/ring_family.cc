// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kUnitTolerance = 0.02;    ///< of half a round
constexpr std::size_t kFewestPauses = 20;  ///< inside steps
constexpr double kNearlyAll = 0.85;        ///< of the pauses
constexpr double kSameBytes = 0.005;
constexpr int kMostPieces = 6;

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

/// Where a lane pauses inside its steps, as parts of a step's bytes.
std::vector<double> pauses_inside(const rhythm::Steps& exchanges,
                                  std::span<const rhythm::Channel> channels) {
  std::vector<double> places;
  for (const rhythm::Lane& lane : exchanges.lanes) {
    const auto all = static_cast<double>(lane.bytes);
    for (const std::optional<rhythm::Beat>& beat : lane.beats) {
      if (!beat || !beat->fits) continue;
      if (std::abs(static_cast<double>(beat->bytes) - all) > kSameBytes * all) continue;
      double sent = 0;
      for (std::size_t i = beat->first_burst; i + 1 < beat->end_burst; ++i) {
        sent += static_cast<double>(channels[lane.channel].bursts[i].bytes);
        places.push_back(sent / all);
      }
    }
  }
  return places;
}

/// Whether all but few of the places are where one of so many equal parts ends.
bool would_pause(std::span<const double> places, int half_rounds) {
  const auto fitting = std::count_if(places.begin(), places.end(), [&](double place) {
    const double passed = place * half_rounds;
    return std::abs(passed - std::round(passed)) < kUnitTolerance;
  });
  return static_cast<double>(fitting) >= kNearlyAll * static_cast<double>(places.size());
}

/// In how many parts an edge's bytes may be sent, with the ranks on each host; the fewest first. All
/// R ranks make 2(R-1) rounds, after each of which somebody may have to be waited for. Some
/// implementations cut each round in two; others cut the payload into pieces, which make all rounds
/// one after the other.
std::vector<std::pair<int, int>> layouts(int hosts) {
  std::vector<std::pair<int, int>> result;
  for (const int ranks : {1, 2, 3, 4, 8}) result.emplace_back(4 * (hosts * ranks - 1), ranks);
  for (int pieces = 2; pieces <= kMostPieces; ++pieces) {
    result.emplace_back(4 * (hosts - 1) * pieces, 1);
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  return result;
}

/// How many ranks each host holds: one, unless nearly all pauses are where the rounds of a larger
/// ring end. Several buckets of different sizes hardly ever pause there.
int ranks_per_host(const rhythm::Steps& exchanges, std::span<const rhythm::Channel> channels,
                   int hosts) {
  if (hosts < 3) return 1;
  const std::vector<double> places = pauses_inside(exchanges, channels);
  if (places.size() < kFewestPauses) return 1;
  for (const auto& [half_rounds, ranks] : layouts(hosts)) {
    if (would_pause(places, half_rounds)) return ranks;
  }
  return 1;
}

/// What an edge between two hosts carries, in payloads.
double edge_part(int hosts, int ranks_on_each) {
  const double n = hosts * ranks_on_each;
  return 2 * (n - 1) / n;
}

}  // namespace

void set_ranks_on_each(Recognition& ring, int ranks, int passes) {
  const auto hosts = static_cast<int>(ring.order.size());
  ring.payload *= edge_part(hosts, ring.ranks_on_each) / (passes * edge_part(hosts, ranks));
  ring.ranks_on_each = ranks;
  ring.evidence += fmt::format(
      "; {} connections join every two hosts, as {} ranks on each host need them when all are "
      "joined with all",
      ranks * ranks, ranks);
  if (passes > 1) {
    ring.evidence += fmt::format("; {} of them carry gradients: the ring passes each edge {} times",
                                 passes, passes);
  }
}

std::optional<Recognition> as_ring(const Pattern& pattern, const rhythm::Steps& exchanges,
                                   std::span<const rhythm::Channel> channels) {
  const std::vector<int> order = circle(pattern);
  if (order.empty() || !pattern.is_even(kEven)) return std::nullopt;
  const int on_each = ranks_per_host(exchanges, channels, pattern.size());
  const double edge = pattern.total() / pattern.size();
  Recognition result{
      .operation = std::string(collective::name_of(collective::Operation::AllReduce)),
      .strategy = std::string(collective::strategy(collective::ring).name),
      .order = {},
      .servers = {},
      .starters = {},
      .payload = edge / edge_part(pattern.size(), on_each),
      .fit = std::max(0.0, 1 - 5 * spread(pattern)),
      .evidence = {},
      .ranks_on_each = on_each};
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
        "; the pauses inside steps are between the {} rounds that {} ranks on each host make (a "
        "guess)",
        2 * (on_each * pattern.size() - 1), on_each);
  }
  return result;
}

}  // namespace tw::recognise
