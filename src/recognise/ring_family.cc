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
constexpr int kMostOfBuckets = 64;  ///< rounds: where there are more, buckets are not looked for
constexpr std::size_t kMostPlaces = 200;  ///< at which steps pause: the same
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

/// Where so many equal rounds end between two places.
void add_rounds(std::vector<double>& ends, int rounds, double from, double to) {
  for (int i = 1; i <= rounds; ++i) ends.push_back(from + (to - from) * i / rounds);
}

/// What the pauses tell for rounds that end at some places.
struct Told {
  double odds =
      0;           ///< how much likelier they are there, or in the middles of rounds, than anywhere
  double met = 0;  ///< of the ends, at how many anybody ever waits
};

/// More ends are found at more places by chance. REQUIRES: `places` rise, and so do `ends`, to 1.
Told told_by(std::span<const double> places, const std::vector<double>& ends) {
  const std::size_t inside = 2 * ends.size() - 1;
  const double width = std::min(kSamePlace, kOfPart / static_cast<double>(inside + 1));
  const auto count = [&](double place) {
    const auto low = std::lower_bound(places.begin(), places.end(), place - width);
    return static_cast<std::size_t>(std::upper_bound(low, places.end(), place + width) - low);
  };
  std::size_t hits = 0;
  double met = 0;
  double last = 0;
  for (const double end : ends) {
    const std::size_t here = count(end);
    hits += here + count((last + end) / 2);
    met += here > 0 && end < 1 ? 1 : 0;
    last = end;
  }
  const auto n = static_cast<double>(places.size());
  const double share = static_cast<double>(hits) / n;
  // What is sent in pieces of any size pauses at some of the places too.
  if (share < kNearlyAll) return {};
  const double hit = std::log((1 - kAssumed.mistaken) / (static_cast<double>(inside) * 2 * width));
  return {.odds = (share * hit + (1 - share) * std::log(kAssumed.mistaken)) *
                  std::min(n, kAssumed.independent),
          .met = met / static_cast<double>(ends.size() - 1)};
}

/// The same together with what it tells that somebody waits at nearly all ends, where there are pauses enough
/// for all.
double odds_of(std::span<const double> places, const std::vector<double>& ends) {
  const Told told = told_by(places, ends);
  if (told.odds <= 0) return 0;
  const auto each = static_cast<double>(places.size()) / static_cast<double>(ends.size());
  const double expected = (1 - kAssumed.mistaken) * (1 - std::exp(-each));
  return told.odds + law(told.met, expected, ends.size() - 1);
}

double equal_odds(std::span<const double> places, int rounds) {
  std::vector<double> ends;
  add_rounds(ends, rounds, 0, 1);
  return odds_of(places, ends);
}

/// Places at which several steps pause, one for each.
std::vector<double> common_places(std::span<const double> places) {
  std::vector<double> common;
  for (std::size_t first = 0, next = 0; first < places.size(); first = next) {
    while (next < places.size() && places[next] - places[first] <= 2 * kSamePlace) ++next;
    if (next - first > 1) common.push_back(places[(first + next) / 2]);
  }
  return common;
}

/// Whether so many equal rounds from one place to another end where steps pause, nearly all.
bool are_rounds(std::span<const double> common, int rounds, double from, double to) {
  if (to - from < 4 * kSamePlace * rounds) return false;  // ends are no places then
  std::vector<double> ends;
  add_rounds(ends, rounds, from, to);
  ends.pop_back();
  const auto met = std::count_if(ends.begin(), ends.end(), [&](double end) {
    const auto near = std::lower_bound(common.begin(), common.end(), end - kSamePlace);
    return near != common.end() && *near <= end + kSamePlace;
  });
  return static_cast<double>(met) >= (1 - kAssumed.mistaken) * static_cast<double>(ends.size());
}

/// The fewest buckets, one after the other, of so many rounds each: where they end, from 0 to 1; empty
/// unless there are several, all of whose rounds are seen.
std::vector<double> bucket_ends(std::span<const double> places, int rounds) {
  const std::vector<double> common = common_places(places);
  if (common.size() > kMostPlaces) return {};
  std::vector<double> at{0};
  at.insert(at.end(), common.begin(), common.end());
  at.push_back(1);
  std::vector<int> buckets(at.size(), kMostPieces + 1);
  std::vector<std::size_t> before(at.size(), 0);
  buckets[0] = 0;
  for (std::size_t to = 1; to < at.size(); ++to) {
    for (std::size_t from = 0; from < to; ++from) {
      if (buckets[from] + 1 >= buckets[to] || (from == 0 && to + 1 == at.size())) continue;
      if (!are_rounds(common, rounds, at[from], at[to])) continue;
      buckets[to] = buckets[from] + 1;
      before[to] = from;
    }
  }
  if (buckets.back() > kMostPieces) return {};
  std::vector<double> ends;
  for (std::size_t to = at.size() - 1; to > 0; to = before[to]) ends.push_back(at[to]);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

/// Of buckets one after the other, of so many rounds each: a size that is another costs what it takes to name it.
double buckets_odds(std::span<const double> places, int rounds) {
  const std::vector<double> buckets = bucket_ends(places, rounds);
  if (buckets.empty()) return 0;
  std::vector<double> ends;
  std::vector<double> sizes;
  double from = 0;
  for (const double to : buckets) {
    add_rounds(ends, rounds, from, to);
    sizes.push_back(to - from);
    from = to;
  }
  std::sort(sizes.begin(), sizes.end());
  const auto last = std::unique(sizes.begin(), sizes.end(),
                                [](double a, double b) { return b - a <= 4 * kSamePlace; });
  const auto others = static_cast<double>(last - sizes.begin() - 1);
  return odds_of(places, ends) + others * std::log(2 * kSamePlace);
}

/// What the places of pauses tell for so many ranks on each host. All R ranks make 2(R-1) rounds,
/// after each of which somebody may have to be waited for. Some implementations cut each round in
/// two; others cut the payload into pieces, which make all rounds one after the other, or send
/// buckets, whose rounds may all end where rounds of more ranks do.
double rounds_odds(std::span<const double> places, int hosts, int ranks) {
  if (places.size() < kFewestPauses) return 0;
  double best = std::max(0.0, equal_odds(places, 2 * (hosts * ranks - 1)));
  if (ranks > 1) return best;
  const int rounds = 2 * (hosts - 1);
  if (rounds <= kMostOfBuckets) {
    best = std::max(best, buckets_odds(places, rounds) + std::log(kAssumed.pieces));
  }
  for (int pieces = 2; pieces <= kMostPieces; ++pieces) {
    best = std::max(
        best, equal_odds(places, rounds * pieces) + std::log(kAssumed.pieces / (kMostPieces - 1)));
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
  std::vector<double> places = pauses_inside(seen.exchanges, seen.channels);
  std::sort(places.begin(), places.end());
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
