// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/likelihood.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kSamePlace = 0.0005;      ///< of a step's bytes: where a round ends
constexpr double kOfPart = 0.02;           ///< the same of a part, where parts are small
constexpr double kNearlyAll = 0.85;        ///< of the pauses
constexpr std::size_t kFewestPauses = 20;  ///< inside steps
constexpr double kSameBytes = 0.005;
constexpr int kMostPieces = 6;
constexpr int kRanks[] = {1, 2, 3, 4, 8};

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

/// Places along the circle; empty when the successors do not form one. Where the packets are of some
/// hosts only, one edge may be missing: that of two whose packets are not there.
std::vector<int> circle(const Pattern& pattern, Views views) {
  int first = 0;
  for (int place = 0; place < pattern.size(); ++place) {
    if (pattern.received(place) <= 0) first = place;
  }
  std::vector<int> order;
  int place = first;
  for (int i = 0; i < pattern.size(); ++i) {
    order.push_back(place);
    const std::optional<int> next = successor(pattern, place);
    const bool is_last = i + 1 == pattern.size();
    const bool is_unseen = views == Views::OfSome && i > 1 && pattern.sent(place) <= 0;
    if (!next) return is_last && is_unseen ? order : std::vector<int>{};
    place = *next;
    if (place == first && !is_last) return {};
  }
  return place == first ? order : std::vector<int>{};
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

/// How much likelier it is that these are the ends of so many equal parts than that they are
/// anywhere: finer parts are found at more places by chance.
double parts_odds(std::span<const double> places, int parts) {
  const double width = std::min(kSamePlace, kOfPart / parts);
  const auto hits = std::count_if(places.begin(), places.end(), [&](double place) {
    return std::abs(place - std::round(place * parts) / parts) <= width;
  });
  const auto n = static_cast<double>(places.size());
  const double share = static_cast<double>(hits) / n;
  // What is sent in pieces of any size pauses at some of the places too.
  if (share < kNearlyAll) return 0;
  const double hit = std::log((1 - kAssumed.mistaken) / ((parts - 1) * 2 * width));
  return (share * hit + (1 - share) * std::log(kAssumed.mistaken)) *
         std::min(n, kAssumed.independent);
}

/// What the places of pauses tell for so many ranks on each host. All R ranks make 2(R-1) rounds,
/// after each of which somebody may have to be waited for. Some implementations cut each round in
/// two; others cut the payload into pieces, which make all rounds one after the other.
double rounds_odds(std::span<const double> places, int hosts, int ranks) {
  if (places.size() < kFewestPauses) return 0;
  double best = std::max(0.0, parts_odds(places, 4 * (hosts * ranks - 1)));
  for (int pieces = 2; ranks == 1 && pieces <= kMostPieces; ++pieces) {
    best = std::max(best, parts_odds(places, 4 * (hosts - 1) * pieces) +
                              std::log(kAssumed.pieces / (kMostPieces - 1)));
  }
  return best;
}

double prior_of_ranks(int ranks) {
  const double others = (1 - kAssumed.one_rank) / (std::size(kRanks) - 1);
  return std::log(ranks == 1 ? kAssumed.one_rank : others);
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
  ring.payload_fit = ring.fit;
  ring.runner_up.reset();
  ring.evidence += fmt::format(
      "; {} connections join every two hosts, as {} ranks on each host need them when all are "
      "joined with all",
      ranks * ranks, ranks);
  if (passes > 1) {
    ring.evidence += fmt::format("; {} of them carry gradients: the ring passes each edge {} times",
                                 passes, passes);
  }
}

Offers as_ring(const Seen& seen) {
  const Pattern& pattern = seen.pattern;
  const std::vector<int> order = circle(pattern, seen.views);
  if (order.empty() || !pattern.is_even(widest_difference())) return {};
  const int n = pattern.size();
  const std::size_t edges = pattern.edges().size();
  const double edge = pattern.total() / static_cast<double>(edges);
  Recognition ring{.operation = std::string(collective::name_of(collective::Operation::AllReduce)),
                   .strategy = std::string(collective::strategy(collective::ring).name),
                   .order = {},
                   .servers = {},
                   .starters = {},
                   .payload = edge / edge_part(n, 1),
                   .evidence = {},
                   .nats = even_pairs(pattern, orders(n - 1))};
  for (const int place : order) ring.order.push_back(pattern.host(place));
  ring.starters = ring.order;
  if (n == 2) {
    ring.evidence =
        "both hosts send the payload once in each step; with two hosts a ring, a tree and all "
        "others look alike: ring is a guess, the bytes are not";
    Recognition star = ring;
    star.strategy = collective::strategy(collective::star).name;
    Recognition packed = ring;
    packed.ranks_on_each = 2;
    packed.payload = edge / edge_part(n, 2);
    ring.nats += std::log(kAssumed.ring_of_two * kAssumed.one_rank);
    star.nats += std::log((1 - kAssumed.ring_of_two) * kAssumed.one_rank);
    packed.nats += std::log(kAssumed.ring_of_two * (1 - kAssumed.one_rank));
    if (seen.views == Views::OfRanks) return {ring, star};
    return {ring, star, packed};
  }
  ring.evidence = fmt::format(
      "each of {} hosts sends to exactly one other, in one circle, the same bytes within {:.1f} "
      "%; data flows one way only",
      n, 100 * spread(pattern));
  if (edges < order.size()) ring.evidence += "; of one edge nobody's packets are there (a guess)";
  const std::vector<double> places = pauses_inside(seen.exchanges, seen.channels);
  Offers offers;
  for (const int ranks : kRanks) {
    if (ranks > 1 && seen.views == Views::OfRanks) continue;
    Recognition& one = offers.emplace_back(ring);
    one.ranks_on_each = ranks;
    one.payload = edge / edge_part(n, ranks);
    one.nats += prior_of_ranks(ranks) + rounds_odds(places, n, ranks);
    if (ranks == 1) continue;
    one.evidence += fmt::format(
        "; the pauses inside steps are between the {} rounds that {} ranks on each host make (a "
        "guess)",
        2 * (ranks * n - 1), ranks);
  }
  return offers;
}

}  // namespace tw::recognise
