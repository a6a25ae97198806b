// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/tempo.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace tw::flow {
namespace {

constexpr double kSamePace = 0.07;  ///< periods that differ by less are one: start-up and jitter
constexpr double kSamePaceOfFew = 0.20;  ///< the same for very few beats
constexpr double kSameBytes = 0.002;     ///< distances that differ by less are one
constexpr std::size_t kMostDistances = 8;
constexpr double kPopularityWorth = 0.1;  ///< of a distance that all channels have, in coverage
constexpr double kLeastShare = 0.03;      ///< of the largest channel: smaller ones follow, not lead
constexpr std::size_t kMostChannels = 128;
constexpr std::size_t kMostTempos = 4;
constexpr std::size_t kFewestBeats = 3;
constexpr double kLeastCoverage = 0.3;   ///< of a channel by its beats
constexpr double kAboutAsGood = 0.8;     ///< of the best share
constexpr double kChance = 3e-3;         ///< that long pauses fall on every n-th place by accident
constexpr double kClearChannels = 0.75;  ///< quantile over channels: the clearer half, roughly
constexpr double kLeastDominance = 0.6;
constexpr double kLeastRatio = 1.15;

struct Candidate {
  std::size_t channel;  ///< number among the streams
  RhythmFit fit;
};

/// Channels whose fits agree in time.
struct Pace {
  double period_ns;
  std::vector<Candidate> candidates;
  double share = 0;

  double median_ns() const {
    std::vector<double> periods;
    for (const Candidate& candidate : candidates) periods.push_back(candidate.fit.period_ns);
    return stats::median(std::move(periods));
  }
};

bool same_pace(double a, double b) { return std::abs(a - b) < kSamePace * std::min(a, b); }

/// The fewer beats, the less is known about their pace.
bool same_pace(const RhythmFit& fit, double period_ns) {
  const double tolerance =
      std::clamp(0.8 / static_cast<double>(fit.beats), kSamePace, kSamePaceOfFew);
  return std::abs(fit.period_ns - period_ns) < tolerance * std::min(fit.period_ns, period_ns);
}

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

/// Coverage decides between two distances at one pace; of equals, the longer pauses.
double merit(const RhythmFit& fit) { return fit.coverage + 0.01 * dominance(clearer(fit)); }

class Search {
 public:
  Search(std::span<const Channel> channels, std::vector<std::size_t> chosen, std::int64_t gap_ns)
      : channels_(channels), chosen_(std::move(chosen)) {
    for (const std::size_t i : chosen_) {
      streams_.emplace_back(channels[i], received(channels[i].from), gap_ns);
      bytes_ += static_cast<double>(channels[i].bytes);
    }
  }

  std::optional<Tempo> tempo() {
    collect_fits();
    std::vector<Pace> paces = group();
    for (Pace& pace : paces) complete(pace);
    const Pace* pace = choose(paces);
    if (pace == nullptr) return std::nullopt;
    return tempo_of(*pace);
  }

 private:
  /// Bursts that count as data, of all chosen channels that lead to the host.
  std::vector<Burst> received(int host) const {
    std::vector<Burst> result;
    for (const std::size_t i : chosen_) {
      if (channels_[i].to != host) continue;
      const std::vector<Burst>& bursts = channels_[i].bursts;
      const std::uint64_t least = channels_[i].bytes / (50 * bursts.size() + 1);
      std::copy_if(bursts.begin(), bursts.end(), std::back_inserter(result),
                   [&](const Burst& burst) { return burst.bytes > least; });
    }
    std::sort(result.begin(), result.end(),
              [](const Burst& a, const Burst& b) { return a.start_ns < b.start_ns; });
    return result;
  }

  bool is_usable(const RhythmFit& fit) const {
    return fit.beats >= kFewestBeats && fit.coverage >= kLeastCoverage && fit.period_ns > 0;
  }

  void collect_fits() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      for (const double distance : streams_[i].guess_distances()) {
        RhythmFit fit = streams_[i].fit(distance);
        if (is_usable(fit)) fits_.push_back({.channel = i, .fit = std::move(fit)});
      }
    }
  }

  double weight(const Candidate& candidate) const {
    return candidate.fit.coverage * static_cast<double>(streams_[candidate.channel].bytes());
  }

  /// Of each channel the fit that covers most at that pace.
  Pace pace_at(double period_ns) const {
    std::vector<const Candidate*> best(streams_.size(), nullptr);
    for (const Candidate& candidate : fits_) {
      const Candidate*& known = best[candidate.channel];
      if (!same_pace(candidate.fit, period_ns)) continue;
      if (known == nullptr || merit(candidate.fit) > merit(known->fit)) known = &candidate;
    }
    Pace pace{.period_ns = period_ns, .candidates = {}};
    for (const Candidate* candidate : best) {
      if (candidate != nullptr) pace.candidates.push_back(*candidate);
    }
    return pace;
  }

  std::vector<Pace> group() const {
    std::vector<std::size_t> order(fits_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return weight(fits_[a]) > weight(fits_[b]);
    });
    std::vector<Pace> paces;
    for (const std::size_t i : order) {
      const double period = fits_[i].fit.period_ns;
      const bool is_known = std::any_of(paces.begin(), paces.end(), [&](const Pace& pace) {
        return same_pace(pace.period_ns, period);
      });
      if (!is_known) paces.push_back(pace_at(pace_at(period).median_ns()));
    }
    return paces;
  }

  /// Distances of a pace and the share of its channels that have each.
  struct Distance {
    double bytes;
    double popularity;
  };
  static std::vector<Distance> distances_of(const Pace& pace) {
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

  /// Every channel tries the distances of the others too: in most strategies all send alike, and
  /// where few beats leave a choice, what several channels have in common is right.
  void complete(Pace& pace) const {
    const std::vector<Distance> distances = distances_of(pace);
    std::vector<std::optional<Candidate>> best(streams_.size());
    std::vector<double> merits(streams_.size(), 0);
    const auto offer = [&](std::size_t channel, RhythmFit fit, double popularity) {
      const double found = merit(fit) + kPopularityWorth * popularity;
      if (best[channel] && merits[channel] >= found) return;
      merits[channel] = found;
      best[channel] = {.channel = channel, .fit = std::move(fit)};
    };
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      for (const Distance& distance : distances) {
        RhythmFit fit = streams_[i].fit(distance.bytes);
        if (!is_usable(fit) || !same_pace(fit, pace.period_ns)) continue;
        offer(i, std::move(fit), distance.popularity);
      }
    }
    for (Candidate& candidate : pace.candidates) offer(candidate.channel, candidate.fit, 0);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      for (const Distance& distance : distances) {
        if (best[i]) break;
        std::optional<RhythmFit> even = streams_[i].even_fit(distance.bytes);
        if (even && same_pace(even->period_ns, pace.period_ns)) offer(i, std::move(*even), 0);
      }
    }
    pace.candidates.clear();
    for (std::optional<Candidate>& candidate : best) {
      if (!candidate) continue;
      pace.share += weight(*candidate) / bytes_;
      pace.candidates.push_back(std::move(*candidate));
    }
  }

  /// How the pauses at the ends of beats compare with those inside, in the clearer channels: others
  /// may pause longer inside a step, while they wait for somebody.
  struct Prominence {
    double ratio = 0;
    double dominance = 0;
    std::size_t compared = 0;
  };
  template <typename Which>
  static Prominence prominence(const Pace& pace, Which which) {
    std::vector<double> ratios;
    std::vector<double> compared;
    std::vector<double> dominances;
    for (const Candidate& candidate : pace.candidates) {
      const RhythmFit::Comparison& found = which(candidate.fit);
      if (found.compared == 0) continue;
      ratios.push_back(found.ratio);
      compared.push_back(static_cast<double>(found.compared));
      dominances.push_back(dominance(found));
    }
    if (ratios.empty()) return {};
    return {.ratio = stats::quantile(std::move(ratios), kClearChannels),
            .dominance = stats::quantile(std::move(dominances), kClearChannels),
            .compared = static_cast<std::size_t>(stats::median(std::move(compared)))};
  }

  static bool is_prominent(const Prominence& found) {
    return found.ratio >= kLeastRatio && found.dominance >= kLeastDominance;
  }

  /// Whether long pauses would hardly fall on every `times`-th place as often by accident.
  static bool is_no_accident(const Prominence& found, double times) {
    if (times < 1 + 3 * kSamePace) return false;
    const double hits = std::floor(found.dominance * static_cast<double>(found.compared));
    const double chance = times * tail(found.compared, static_cast<std::size_t>(hits), 1 / times);
    // By accident pauses are not much longer either.
    return chance < kChance * found.ratio * found.ratio;
  }

  static const Pace* choose(std::vector<Pace>& paces) {
    std::sort(paces.begin(), paces.end(),
              [](const Pace& a, const Pace& b) { return a.period_ns < b.period_ns; });
    double best = 0;
    for (const Pace& pace : paces) best = std::max(best, pace.share);
    const Pace* fastest = nullptr;
    const Pace* chosen = nullptr;
    for (const Pace& pace : paces) {
      if (pace.share < kAboutAsGood * best) continue;
      if (fastest == nullptr) fastest = &pace;
      if (!is_prominent(prominence(pace, clearer))) continue;
      // Whether a pause is quiet depends on others and may alternate; its length does not.
      const auto as_they_are = [](const RhythmFit& fit) -> const auto& { return fit.pauses; };
      if (chosen == nullptr ||
          is_no_accident(prominence(pace, as_they_are), pace.period_ns / chosen->period_ns)) {
        chosen = &pace;
      }
    }
    return chosen != nullptr ? chosen : fastest;
  }

  Tempo tempo_of(const Pace& pace) const {
    Tempo tempo{.period_ns = pace.period_ns,
                .share = pace.share,
                .dominance = 1,
                .ratio = 0,
                .members = {}};
    std::vector<double> periods;
    for (const Candidate& candidate : pace.candidates) {
      const RhythmFit& fit = candidate.fit;
      tempo.members.push_back({.channel = chosen_[candidate.channel],
                               .bytes = static_cast<std::uint64_t>(std::llround(fit.bytes)),
                               .beats = streams_[candidate.channel].beats(fit)});
      periods.push_back(fit.period_ns);
    }
    const Prominence found = prominence(pace, clearer);
    if (found.compared > 0) {
      tempo.dominance = found.dominance;
      tempo.ratio = found.ratio;
    }
    tempo.period_ns = stats::median(std::move(periods));
    return tempo;
  }

  std::span<const Channel> channels_;
  std::vector<std::size_t> chosen_;
  std::vector<ByteStream> streams_;
  std::vector<Candidate> fits_;
  double bytes_ = 0;
};

/// The largest of the channels that are not taken.
std::vector<std::size_t> leaders(std::span<const Channel> channels,
                                 const std::vector<bool>& taken) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!taken[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return channels[a].bytes > channels[b].bytes;
  });
  const double largest = order.empty() ? 0 : static_cast<double>(channels[order.front()].bytes);
  while (!order.empty() &&
         (order.size() > kMostChannels ||
          static_cast<double>(channels[order.back()].bytes) < kLeastShare * largest)) {
    order.pop_back();
  }
  return order;
}

}  // namespace

std::vector<Tempo> find_tempos(std::span<const Channel> channels, std::int64_t gap_ns) {
  std::vector<Tempo> tempos;
  std::vector<bool> taken(channels.size(), false);
  while (tempos.size() < kMostTempos) {
    const std::vector<std::size_t> chosen = leaders(channels, taken);
    if (chosen.empty()) break;
    std::optional<Tempo> tempo = Search(channels, chosen, gap_ns).tempo();
    if (!tempo) break;
    for (const Member& member : tempo->members) taken[member.channel] = true;
    tempos.push_back(std::move(*tempo));
  }
  return tempos;
}

}  // namespace tw::flow
