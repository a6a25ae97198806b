// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/sharded.h"

#include "trainwire/recognise/course.h"
#include "trainwire/recognise/likelihood.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kOftenThere = 0.3;  ///< of the steps: a place where a collective may end,
constexpr double kStandsOut = 3;     ///< if it is so many deviations above what is there by chance
/// Pauses of a step that are looked at, the longest: between the rounds of a collective ranks wait for
/// one another too, and for the network, but not as long.
constexpr double kLongest[] = {8, 16, 32, 64, 1000};
constexpr std::size_t kFewestPauses = 20;
constexpr std::size_t kMostApart = 4;    ///< places between two of which the sizes of layers show
constexpr std::size_t kMostKinds = 6;    ///< sizes that are tried for layers,
constexpr std::size_t kFewestAlike = 2;  ///< and how often they are met
constexpr std::size_t kMostParts = 100;
constexpr std::size_t kMostFirst = 12;  ///< places behind which there may be equal buckets
constexpr std::size_t kMostEqual = 4;   ///< buckets whose rounds are in pieces
constexpr double kSmallestPiece = 4 * kSamePlace;
constexpr double kLargestPiece = 0.02;  ///< of a step: what is larger may as well be a layer
constexpr double kLeastByChance = 0.2;  ///< pauses at a place
constexpr double kAtTheTurn = 0.5;      ///< of the steps have their longest pause there

/// Inside a step.
struct Pause {
  double place;  ///< in parts of a step's bytes
  double length_ns;
};

/// What lanes show inside their steps.
struct Inside {
  std::vector<double> places = {};   ///< of pauses, rising
  std::vector<double> longest = {};  ///< places of the longest pause of each beat
  std::vector<double> common = {};   ///< places at which many steps pause, rising
  double beats = 0;
  /// Of each stretch of a step as long as kSamePlace: how many places are before it.
  std::vector<std::ptrdiff_t> before = {};

  /// REQUIRES: the places are known.
  void sort_places() {
    std::sort(places.begin(), places.end());
    std::size_t next = 0;
    for (double begin = 0; next < places.size() || before.empty(); begin += kSamePlace) {
      while (next < places.size() && places[next] < begin) ++next;
      before.push_back(static_cast<std::ptrdiff_t>(next));
    }
  }

  std::size_t at(double place) const {
    const double stretch = std::max(0.0, place / kSamePlace);
    const auto bound = [&](double number) {
      const auto i = static_cast<std::size_t>(std::max(0.0, number));
      return i < before.size() ? places.begin() + before[i] : places.end();
    };
    const auto low = stretch < 3 ? places.begin() : bound(stretch - 3);
    const auto high = bound(stretch + 4);
    return static_cast<std::size_t>(std::upper_bound(low, high, place + kSamePlace) -
                                    std::lower_bound(low, high, place - kSamePlace));
  }
};

std::vector<Pause> pauses_in(const rhythm::Lane& lane, const rhythm::Beat& beat,
                             std::span<const flow::Burst> bursts) {
  std::vector<Pause> pauses;
  double sent = 0;
  for (std::size_t i = beat.first_burst; i + 1 < beat.end_burst; ++i) {
    sent += static_cast<double>(bursts[i].bytes) / static_cast<double>(lane.bytes);
    pauses.push_back({sent, static_cast<double>(bursts[i + 1].start_ns - bursts[i].end_ns)});
  }
  return pauses;
}

/// The longest pauses of a lane's beats, so many of each on average.
void add_lane(Inside& result, const rhythm::Lane& lane, std::span<const rhythm::Channel> channels,
              double of_beat) {
  const auto is_longer = [](const Pause& a, const Pause& b) { return a.length_ns > b.length_ns; };
  std::vector<Pause> all;
  double beats = 0;
  for (const std::optional<rhythm::Beat>& beat : lane.beats) {
    if (!beat || !beat->fits) continue;
    ++beats;
    const std::vector<Pause> own = pauses_in(lane, *beat, channels[lane.channel].bursts);
    if (own.empty()) continue;
    result.longest.push_back(std::min_element(own.begin(), own.end(), is_longer)->place);
    all.insert(all.end(), own.begin(), own.end());
  }
  result.beats += beats;
  const auto most = static_cast<std::size_t>(of_beat * beats);
  if (all.size() > most) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                     is_longer);
    all.resize(most);
  }
  for (const Pause& pause : all) result.places.push_back(pause.place);
}

/// The places at which many steps pause, more than by chance, rising.
std::vector<double> common_places(const Inside& inside) {
  const std::vector<double>& places = inside.places;
  const double by_chance = static_cast<double>(places.size()) * kSamePlace;
  const double many =
      std::max({2.0, kOftenThere * inside.beats, by_chance + kStandsOut * std::sqrt(by_chance)});
  std::vector<double> common;
  for (std::size_t low = 0, high = 0; low < places.size(); low = high) {
    while (high < places.size() && places[high] - places[low] <= kSamePlace) ++high;
    const double place = places[(low + high) / 2];
    if (static_cast<double>(high - low) < many || place >= 1 - kSamePlace) continue;
    common.push_back(place);
  }
  return common;
}

/// What is sent between each of these and the next.
std::vector<double> sizes_between(std::vector<double> places) {
  places.push_back(1);
  std::adjacent_difference(places.begin(), places.end(), places.begin());
  return places;
}

/// What is sent most often between some of these places.
std::vector<double> common_sizes(const std::vector<double>& places) {
  std::vector<double> sizes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = i + 1; j < std::min(places.size(), i + 1 + kMostApart); ++j) {
      sizes.push_back(places[j] - places[i]);
    }
  }
  std::vector<double> result;
  for (const SizeKind& kind : kinds_of(sizes)) {
    if (result.size() == kMostKinds || kind.count < kFewestAlike) break;
    std::vector<double> alike;
    std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(alike),
                 [&](double size) { return is_same_size(size, kind.size); });
    result.push_back(stats::median(std::move(alike)));
  }
  return result;
}

/// Of what holds in half of all cases.
double odds_if_half(double odds) { return std::log(0.5 * std::exp(odds) + 0.5); }

/// What the pauses tell for ends at these places: there are more than elsewhere (two Poisson laws), at
/// each as many as at the others, or at some hardly any, where one may follow another at once. No end
/// tells more than where it is.
double places_odds(const Inside& inside, std::span<const double> ends, bool skips) {
  std::vector<double> hits;
  for (const double end : ends) hits.push_back(static_cast<double>(inside.at(end)));
  const double all_hits = std::accumulate(hits.begin(), hits.end(), 0.0);
  const double width = 2 * kSamePlace * static_cast<double>(ends.size());
  if (width >= 0.5) return 0;
  const double elsewhere = std::max(0.0, static_cast<double>(inside.places.size()) - all_hits);
  const double by_chance = std::max(kLeastByChance, 2 * kSamePlace * elsewhere / (1 - width));
  const double mean = all_hits / static_cast<double>(ends.size());
  const double most = -std::log(width);
  double sum = 0;
  for (const double count : hits) {
    const double here = skips ? count : mean;
    const double odds =
        here > by_chance
            ? std::clamp(count * std::log(here / by_chance) - (here - by_chance), -most, most)
            : -most;
    sum += skips ? odds_if_half(odds) : odds;
  }
  return sum;
}

/// What it takes to name so many places one by one, among those at which steps pause.
double price_of(const Inside& inside, std::size_t places) {
  return static_cast<double>(places) *
         std::log(std::max(1.0, static_cast<double>(inside.common.size())));
}

/// The same less the places that are common, and none of these ends.
double whole_odds(const Inside& inside, std::span<const double> ends, bool skips) {
  const auto other = std::count_if(inside.common.begin(), inside.common.end(), [&](double place) {
    const auto above = std::lower_bound(ends.begin(), ends.end(), place - kSamePlace);
    return above == ends.end() || *above > place + kSamePlace;
  });
  return places_odds(inside, ends, skips) - price_of(inside, static_cast<std::size_t>(other));
}

/// What the longest pauses of steps tell for this course: they are at the turn, or before the first
/// gradients.
double turn_odds(const Inside& inside, const Course& course) {
  const std::vector<double> ends = course.waiting_ends();
  if (ends.size() < 2 || inside.longest.empty()) return 0;
  const std::span<const double> turns = std::span(ends).first(2);
  const double by_chance = 2 / std::max(2.0, static_cast<double>(inside.common.size()));
  const auto at_turn =
      std::count_if(inside.longest.begin(), inside.longest.end(), [&](double place) {
        return std::any_of(turns.begin(), turns.end(),
                           [&](double turn) { return std::abs(turn - place) <= kSamePlace; });
      });
  const auto steps = static_cast<double>(inside.longest.size());
  const double share = static_cast<double>(at_turn) / steps;
  return odds_if_half(std::min(steps, kAssumed.independent) *
                      (share * std::log(std::max(kAtTheTurn, by_chance) / by_chance) +
                       (1 - share) * std::log(1 - kAtTheTurn)));
}

/// How much likelier the pauses are if steps take this course than if they are anywhere: they are
/// wherever collectives end, or only where somebody computes.
double score_of(const Course& course, const Inside& inside) {
  double odds = whole_odds(inside, course.ends(), course.skips);
  if (course.waits.size() > 1) {
    odds = std::max(odds, whole_odds(inside, course.waiting_ends(), course.skips)) + std::log(0.5);
  }
  return course.prior + odds + turn_odds(inside, course);
}

/// Of all-reduces around `hosts`, whatever is best: in equal parts, as rounds and pieces are, in rounds
/// of pieces, in pieces that are passed on as they come, of equal buckets between others, or of any.
double score_of_all_reduces(const Inside& inside, int hosts) {
  double best = -price_of(inside, inside.common.size());
  for (std::size_t parts = 2; parts <= kMostParts; ++parts) {
    best = std::max(best, score_of(equal_parts(parts), inside));
  }
  const auto rounds = static_cast<std::size_t>(2 * std::max(1, hosts - 1));
  for (const double size : common_sizes(inside.common)) {
    const bool are_pieces = size >= kSmallestPiece && size <= kLargestPiece;
    if (are_pieces) {
      for (std::size_t buckets = 1; buckets <= kMostEqual; ++buckets) {
        best = std::max(best, score_of(rounds_in_pieces(buckets * rounds, size), inside));
      }
    }
    for (std::size_t i = 0; i < std::min(kMostFirst, inside.common.size()); ++i) {
      if (are_pieces) {
        best = std::max(best, score_of(pieces_through(inside.common[i], size), inside));
      }
      for (const Course& course : equal_buckets(inside.common[i], size)) {
        best = std::max(best, score_of(course, inside));
      }
    }
  }
  return best;
}

struct Scored {
  const Course* course;
  double score;
};

/// The best course, against the next with another model, and all-reduces.
std::optional<Shards> best_course(const std::vector<Course>& courses, const Inside& inside,
                                  int hosts) {
  std::vector<Scored> scored;
  for (const Course& course : courses) {
    scored.push_back({&course, score_of(course, inside) + std::log(kAssumed.threes)});
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const Scored& a, const Scored& b) { return a.score > b.score; });
  if (scored.empty()) return std::nullopt;
  const Course* best = scored.front().course;
  const double most = scored.front().score;
  const double lead = most - score_of_all_reduces(inside, hosts);
  if (lead < -Shards::kClearLead) return std::nullopt;
  const auto next = std::find_if(scored.begin(), scored.end(), [&](const Scored& one) {
    return !is_same_size(one.course->model, best->model);
  });
  const double odds = next == scored.end() ? 0 : std::exp(next->score - most);
  const double all = 1 + odds + std::exp(-lead);
  Shards result{.model = best->model,
                .collectives = best->sizes.size(),
                .lead = lead,
                .worth = most - best->prior - std::log(kAssumed.threes),
                .probability = 1 / all};
  result.other = {.probability = std::max(odds, std::exp(-lead)) / all, .model = {}};
  if (odds > std::exp(-lead)) result.other.model = next->course->model;
  return result;
}

}  // namespace

std::optional<Shards> find_shards(const rhythm::Steps& ring,
                                  std::span<const rhythm::Channel> channels) {
  const auto hosts = static_cast<int>(rhythm::hosts_of(ring).size());
  std::optional<Shards> best;
  for (const double of_beat : kLongest) {
    Inside inside;
    for (const rhythm::Lane& lane : ring.lanes) add_lane(inside, lane, channels, of_beat);
    if (inside.places.size() < kFewestPauses) continue;
    inside.sort_places();
    inside.common = common_places(inside);
    std::vector<Course> courses = courses_by_sizes(sizes_between(inside.common), hosts);
    for (const double size : common_sizes(inside.common)) {
      for (const double layer : {size, size / 2}) {
        std::vector<Course> more = courses_of_layers(layer);
        std::move(more.begin(), more.end(), std::back_inserter(courses));
      }
    }
    std::optional<Shards> found = best_course(courses, inside, hosts);
    if (found && found->is_clear()) return found;
    if (found && (!best || found->lead > best->lead)) best = found;
  }
  return best;
}

}  // namespace tw::recognise
