// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/pace.h"

#include "trainwire/rhythm/turns.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tw::rhythm {
namespace {

constexpr double kSamePace = 0.07;  ///< periods that differ by less are one: start-up and jitter
constexpr double kSamePaceOfFew = 0.20;  ///< the same for very few beats
constexpr double kSameBytes = 0.002;     ///< distances that differ by less are one
constexpr std::size_t kMostDistances = 8;
constexpr double kAboutAsGood = 0.8;      ///< of the best share
constexpr double kChance = 3e-3;          ///< that long pauses fall on every n-th place by accident
constexpr double kClearChannels = 0.75;   ///< quantile over channels: the clearer half, roughly
constexpr double kDominanceWorth = 0.05;  ///< of pauses that all stand out, in coverage
constexpr double kClearlyMore = 0.01;     ///< of two shares
constexpr double kNoMultiple = 0.04;      ///< how far from a whole number
constexpr double kMuchMore = 0.04;        ///< the same: what the faster pace has to leave out
constexpr double kEveryOther = 0.65;      ///< where half of them are of another kind
constexpr std::size_t kFewestOfAKind = 5;  ///< beats that are all alike
constexpr double kMostlySeen = 0.85;       ///< of the pauses that a pace expects
constexpr double kIdleWeight = 0.02;       ///< of a channel that hardly sends, against a busy one
constexpr double kAlike = 0.02;            ///< bytes of channels that send the same
constexpr double kAll = 0.995;             ///< of a channel's bytes
constexpr double kExactBytes = 1e-4;       ///< of a beat
constexpr std::size_t kFewExact = 5;       ///< beats
constexpr std::size_t kExactChannels = 3;
constexpr double kLeavesMuch =
    0.9;  ///< share of a pace beside which one that has all is no accident
constexpr double kManyTurns = 0.3;  ///< of the pairs of channels
constexpr double kClearInTurns =
    5e-3;                            ///< of what is believed to be no accident, in spite of turns
constexpr double kTwoAtATime = 0.1;  ///< probability: two steps that are alike are one
constexpr double kLeastDominance = 0.6;
constexpr double kLeastRatio = 1.15;
/// Whole collectives of one size in a step: sharded training gathers the model twice and scatters
/// gradients once. More than these are the steps of an epoch, unless they are equal buckets.
constexpr double kMostOfStep = 3.5;
constexpr double kEqualBuckets = 0.1;  ///< probability: few models have layers of one size only

/// Probability that at least `hits` of `trials` succeed when each does with probability p.
double tail(std::size_t trials, std::size_t hits, double p) {
  double sum = 0;
  const auto n = static_cast<double>(trials);
  for (std::size_t k = hits; k <= trials; ++k) {
    const auto i = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) +
                    i * std::log(p) + (n - i) * std::log1p(-p));
  }
  return std::min(1.0, sum);
}

double dominance(const RhythmFit::Comparison& found) {
  return static_cast<double>(found.dominant) /
         static_cast<double>(std::max<std::size_t>(1, found.compared));
}

const RhythmFit::Comparison& clearer(const RhythmFit& fit) {
  return fit.quiet.dominant > fit.pauses.dominant ? fit.quiet : fit.pauses;
}

struct Weighed {
  double value;
  double weight;
};

/// As stats::quantile, which it is for equal weights.
double weighed_quantile(std::vector<Weighed> values, double q) {
  std::sort(values.begin(), values.end(),
            [](const Weighed& a, const Weighed& b) { return a.value < b.value; });
  const auto last = static_cast<double>(values.size() - 1);
  std::vector<double> places;
  double before = 0;
  for (const Weighed& value : values) {
    places.push_back(static_cast<double>(places.size()) * value.weight + last * before);
    before += value.weight;
  }
  const double target = q * places.back();
  std::size_t above = 0;
  while (above + 1 < places.size() && places[above] < target) ++above;
  if (above == 0) return values.front().value;
  const double part = (target - places[above - 1]) / (places[above] - places[above - 1]);
  return values[above - 1].value + part * (values[above].value - values[above - 1].value);
}

bool is_clear(const RhythmFit::Comparison& found) {
  return found.ratio >= kLeastRatio && dominance(found) >= kLeastDominance;
}

/// What the pauses of a channel tell. One that is always busy and still pauses does so for nothing
/// but the end of a step; one that mostly waits for others pauses for many reasons.
double weight_of(const RhythmFit& fit, const RhythmFit::Comparison& found) {
  return kIdleWeight + (is_clear(found) ? std::pow(fit.busy, 4) : 0);
}

template <typename Which>
Prominence prominence_of(const Pace& pace, Which which) {
  std::vector<Weighed> ratios;
  std::vector<Weighed> dominances;
  std::vector<double> compared;
  for (const Candidate& candidate : pace.candidates) {
    const RhythmFit::Comparison& found = which(candidate.fit);
    if (found.compared == 0) continue;
    const double weight = weight_of(candidate.fit, found);
    ratios.push_back({found.ratio, weight});
    dominances.push_back({dominance(found), weight});
    compared.push_back(static_cast<double>(found.compared));
  }
  if (ratios.empty()) return {};
  return {.ratio = weighed_quantile(std::move(ratios), kClearChannels),
          .dominance = weighed_quantile(std::move(dominances), kClearChannels),
          .compared = static_cast<std::size_t>(stats::median(std::move(compared)))};
}

/// Of the pauses that a pace expects, how many its channels show. Channels that never pause, behind
/// a slow link, show none and are left out.
double seen_share(const Pace& pace) {
  std::vector<double> seen;
  for (const Candidate& candidate : pace.candidates) {
    if (candidate.fit.beats > 0) seen.push_back(candidate.fit.seen);
  }
  return seen.empty() ? 0 : stats::median(std::move(seen));
}

/// Paces whose beats are mostly interpolated explain nothing that a better seen one does not.
void remove_unseen(std::vector<Pace>& paces, double least_share) {
  double best = 0;
  for (const Pace& pace : paces) {
    if (pace.share >= least_share) best = std::max(best, seen_share(pace));
  }
  std::erase_if(paces, [&](const Pace& pace) { return seen_share(pace) < best / 2; });
}

/// How likely the pauses of a pace that is `times` as slow stand out by accident, if the faster one
/// were that of the steps; in units of what is believed to be none. One of `times` pauses is the
/// longest by accident; it must also exceed those inside the faster beats, which not all of them
/// do.
double accident(const Prominence& found, const Prominence& faster, double times) {
  if (times < 1 + 3 * kSamePace) return std::numeric_limits<double>::infinity();
  const double hits = std::round(found.dominance * static_cast<double>(found.compared) - 0.25);
  const double p = (1 + faster.dominance) / 2 / times;
  const double chance = times * tail(found.compared, static_cast<std::size_t>(hits), p);
  // By accident pauses are not much longer either.
  return chance / (kChance * found.ratio * found.ratio);
}

double median_bytes(const Pace& pace) {
  std::vector<double> bytes;
  for (const Candidate& candidate : pace.candidates) bytes.push_back(candidate.fit.bytes);
  return stats::median(std::move(bytes));
}

bool pauses_in(const Pace& pace, std::size_t channel) {
  return std::any_of(pace.candidates.begin(), pace.candidates.end(), [&](const Candidate& other) {
    return other.channel == channel && other.fit.pauses.compared > 0;
  });
}

/// Whether a channel that sends what the others send pauses clearly at the slower pace, but not at
/// the faster: then that is the pace of rounds, which only those see who wait for a slow link.
bool gains_a_channel(const Pace& slower, const Pace& faster) {
  const double typical = median_bytes(slower);
  return std::any_of(slower.candidates.begin(), slower.candidates.end(),
                     [&](const Candidate& candidate) {
                       const RhythmFit::Comparison& found = clearer(candidate.fit);
                       return std::abs(candidate.fit.bytes - typical) < kAlike * typical &&
                              found.ratio >= kLeastRatio && dominance(found) >= kLeastDominance &&
                              !pauses_in(faster, candidate.channel);
                     });
}

/// Whether the slower pace, whose beats are alike inside, has a place for what the faster one leaves
/// out: its beats are no whole number of the faster ones then.
bool explains_more(const Pace& slower, const Pace& faster) {
  const double times = median_bytes(slower) / median_bytes(faster);
  return slower.share > faster.share + kMuchMore &&
         std::abs(times - std::round(times)) > kNoMultiple &&
         prominence(slower).likeness >= kLeastLikeness;
}

/// Of three channels or more.
bool are_equal_beats(const Pace& pace) {
  if (pace.candidates.size() < kExactChannels || pace.share < kAll) return false;
  const double bytes = pace.candidates.front().fit.bytes;
  return std::all_of(pace.candidates.begin(), pace.candidates.end(), [&](const Candidate& each) {
    return each.fit.beats >= kFewExact && each.fit.seen >= 1 && each.fit.coverage >= kAll &&
           std::abs(each.fit.bytes - bytes) <= kExactBytes * bytes;
  });
}

/// Several beats of a faster pace that explains nearly as much are none. REQUIRES: sorted by period.
void mark_exact(std::vector<Pace>& paces) {
  for (std::size_t i = 0; i < paces.size(); ++i) {
    const auto repeats = [&](const Pace& faster) {
      const double times = median_bytes(paces[i]) / median_bytes(faster);
      return faster.share >= kLeavesMuch &&
             std::abs(times - std::round(times)) <= kExactBytes * times;
    };
    paces[i].is_exact =
        are_equal_beats(paces[i]) &&
        std::none_of(paces.begin(), paces.begin() + static_cast<std::ptrdiff_t>(i), repeats);
  }
}

/// The same where the slower pace has all bytes in beats that are equal to a ten-thousandth, which no
/// accident makes of a few channels, and the faster one leaves a tenth of them out: layers of a step,
/// beside what is in no layer.
bool has_all(const Pace& slower, const Pace& faster) {
  const double times = median_bytes(slower) / median_bytes(faster);
  return slower.is_exact && faster.share < kLeavesMuch &&
         std::abs(times - std::round(times)) > kNoMultiple;
}

/// Whether two kinds of beats alternate at the faster pace, as the way forwards and the way back do
/// where both carry the same: those of the slower pace are all of one kind.
bool is_of_one_kind(const Pace& slower, const Pace& faster) {
  const double times = median_bytes(slower) / median_bytes(faster);
  const Prominence slow = prominence(slower);
  const double constancy = prominence(faster).constancy;
  return std::abs(times - 2) < kNoMultiple && slow.compared >= kFewestOfAKind &&
         slower.share > faster.share - kClearlyMore && slow.likeness >= kLeastLikeness &&
         slow.constancy >= kAlways && constancy > 0 && constancy <= kEveryOther;
}

/// Whether pauses that the faster pace expects are never there, because some of what it takes for
/// beats is one piece: those of the slower pace are alike inside.
bool has_larger_pieces(const Pace& slower, const Pace& faster) {
  return seen_share(faster) < kMostlySeen && prominence(slower).likeness >= kLeastLikeness;
}

/// Whether all beats of the faster pace are seen, and pauses of one that is twice as slow are the longer
/// ones for some channels when they are the shorter ones for others: who waits for a step does so
/// together with all, while hosts and TCP are fast and slow in turn, each for itself.
bool takes_turns(const Pace& slower, const Pace& faster) {
  const double times = median_bytes(slower) / median_bytes(faster);
  return std::abs(times - 2) < kNoMultiple && seen_share(faster) >= kAll &&
         turn_share(slower) > kManyTurns;
}

/// The pace chosen so far, and what else it could have been.
struct Choice {
  const AreWhole& are_whole;
  const Pace* chosen = nullptr;
  std::optional<Alternative> alternative = {};

  /// REQUIRES: slower than all before.
  void offer(const Pace& slower) {
    if (chosen == nullptr) {
      chosen = &slower;
      return;
    }
    // Whether a pause is quiet depends on others and may alternate; its length does not.
    const auto as_they_are = [](const RhythmFit& fit) -> const auto& { return fit.pauses; };
    const double times = slower.period_ns / chosen->period_ns;
    const double chance =
        accident(prominence_of(slower, as_they_are), prominence_of(*chosen, as_they_are), times);
    if (explains_more(slower, *chosen) || has_all(slower, *chosen) ||
        is_of_one_kind(slower, *chosen)) {
      take(slower, {.steps = times, .probability = 0.1});
    } else if (gains_a_channel(slower, *chosen)) {
      take(slower, {.steps = times, .probability = std::min(chance, 1.0) / 4});
    } else if (chance < 1 && chance > kClearInTurns && takes_turns(slower, *chosen)) {
      mention({.steps = 1 / times, .probability = kTwoAtATime});
    } else if (chance < 1 && times > kMostOfStep && !has_larger_pieces(slower, *chosen) &&
               are_whole(*chosen, times)) {
      mention({.steps = 1 / times, .probability = kEqualBuckets, .are_buckets = true});
    } else if (chance < 1) {
      take(slower, {.steps = times, .probability = chance / 2});
    } else {
      mention({.steps = 1 / times, .probability = 0.5 / chance});
    }
  }

 private:
  void take(const Pace& slower, Alternative faster) {
    chosen = &slower;
    alternative = faster;
  }
  /// Where beats are whole, other slower paces are as unlikely.
  void mention(Alternative other) {
    const bool is_instead = other.are_buckets && alternative && alternative->steps < 1;
    if (is_instead || !alternative || alternative->probability < other.probability) {
      alternative = other;
    }
  }
};

/// As `merit`, of a pace.
double merit(const Pace& pace) { return pace.share + kDominanceWorth * prominence(pace).dominance; }

/// Removes every pace that explains less than one next to it: channels that fit both make a few
/// accidents look like a pace of its own.
void remove_shadows(std::vector<Pace>& paces) {
  std::vector<double> merits;
  for (const Pace& pace : paces) merits.push_back(merit(pace));
  const auto is_shadow_of = [&](std::size_t i, std::size_t other) {
    const double a_ns = paces[i].period_ns;
    const double b_ns = paces[other].period_ns;
    return merits[other] > merits[i] + kClearlyMore &&
           std::abs(a_ns - b_ns) < 2 * kSamePace * std::min(a_ns, b_ns);
  };
  std::vector<Pace> left;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    bool is_shadow = false;
    for (std::size_t j = 0; j < paces.size() && !is_shadow; ++j) is_shadow = is_shadow_of(i, j);
    if (!is_shadow) left.push_back(paces[i]);
  }
  paces = std::move(left);
}

}  // namespace

double Pace::median_ns() const {
  std::vector<double> periods;
  for (const Candidate& candidate : candidates) periods.push_back(candidate.fit.period_ns);
  return stats::median(std::move(periods));
}

double Pace::whole_ns() const {
  std::vector<double> periods;
  for (const Candidate& candidate : candidates) periods.push_back(candidate.fit.whole_ns);
  return stats::median(std::move(periods));
}

double Pace::typical_ns() const {
  std::vector<double> periods;
  for (const Candidate& candidate : candidates) periods.push_back(candidate.fit.typical_ns);
  return stats::median(std::move(periods));
}

bool same_pace(double a_ns, double b_ns) {
  return std::abs(a_ns - b_ns) < kSamePace * std::min(a_ns, b_ns);
}

bool same_pace(const RhythmFit& fit, double period_ns) {
  const double tolerance =
      std::clamp(0.8 / static_cast<double>(fit.beats), kSamePace, kSamePaceOfFew);
  return std::abs(fit.period_ns - period_ns) < tolerance * std::min(fit.period_ns, period_ns);
}

double merit(const RhythmFit& fit) {
  return fit.coverage + kDominanceWorth * dominance(clearer(fit));
}

std::vector<Distance> distances_of(const Pace& pace) {
  std::vector<Distance> distances;
  for (const Candidate& candidate : pace.candidates) {
    const auto known =
        std::find_if(distances.begin(), distances.end(), [&](const Distance& distance) {
          return std::abs(distance.bytes - candidate.fit.bytes) < kSameBytes * distance.bytes;
        });
    const double part = 1 / static_cast<double>(pace.candidates.size());
    if (known != distances.end())
      known->popularity += part;
    else if (distances.size() < kMostDistances)
      distances.push_back({.bytes = candidate.fit.bytes, .popularity = part});
  }
  return distances;
}

Prominence prominence(const Pace& pace) {
  Prominence result = prominence_of(pace, clearer);
  std::vector<double> likeness;
  std::vector<double> constancy;
  for (const Candidate& candidate : pace.candidates) {
    likeness.push_back(candidate.fit.likeness);
    constancy.push_back(candidate.fit.constancy);
  }
  if (likeness.empty()) return result;
  result.likeness = stats::median(std::move(likeness));
  result.constancy = stats::median(std::move(constancy));
  return result;
}

bool is_prominent(const Pace& pace) {
  const Prominence found = prominence(pace);
  return found.ratio >= kLeastRatio && found.dominance >= kLeastDominance;
}

std::optional<Pace> choose(std::vector<Pace>& paces, const AreWhole& are_whole) {
  remove_shadows(paces);
  std::sort(paces.begin(), paces.end(),
            [](const Pace& a, const Pace& b) { return a.period_ns < b.period_ns; });
  mark_exact(paces);
  double best = 0;
  for (const Pace& pace : paces) best = std::max(best, pace.share);
  remove_unseen(paces, kAboutAsGood * best);
  const Pace* fastest = nullptr;
  Choice choice{.are_whole = are_whole};
  for (const Pace& pace : paces) {
    if (pace.share < kAboutAsGood * best) continue;
    if (fastest == nullptr) fastest = &pace;
    const bool is_alike = choice.chosen != nullptr &&
                          (explains_more(pace, *choice.chosen) || has_all(pace, *choice.chosen) ||
                           is_of_one_kind(pace, *choice.chosen));
    if (is_prominent(pace) || is_alike) choice.offer(pace);
  }
  // Where no pause is longer than others, the fastest whose beats are alike inside.
  for (const Pace& pace : paces) {
    if (choice.chosen != nullptr) break;
    if (pace.share < kAboutAsGood * best || prominence(pace).likeness < kLeastLikeness) continue;
    choice.offer(pace);
  }
  if (choice.chosen == nullptr) return fastest != nullptr ? std::optional(*fastest) : std::nullopt;
  Pace result = *choice.chosen;
  result.alternative = choice.alternative;
  std::erase_if(paces, [&](const Pace& pace) {
    return pace.share < kAboutAsGood * best || pace.period_ns == result.period_ns;
  });
  return result;
}

}  // namespace tw::rhythm
