// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/pace.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::flow {
namespace {

constexpr double kSamePace = 0.07;  ///< periods that differ by less are one: start-up and jitter
constexpr double kSamePaceOfFew = 0.20;  ///< the same for very few beats
constexpr double kSameBytes = 0.002;     ///< distances that differ by less are one
constexpr std::size_t kMostDistances = 8;
constexpr double kAboutAsGood = 0.8;     ///< of the best share
constexpr double kChance = 3e-3;         ///< that long pauses fall on every n-th place by accident
constexpr double kClearChannels = 0.75;  ///< quantile over channels: the clearer half, roughly
constexpr double kLeastDominance = 0.6;
constexpr double kLeastRatio = 1.15;

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

template <typename Which>
Prominence prominence_of(const Pace& pace, Which which) {
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

bool is_prominent(const Prominence& found) {
  return found.ratio >= kLeastRatio && found.dominance >= kLeastDominance;
}

/// Whether long pauses would hardly fall on every `times`-th place as often by accident.
bool is_no_accident(const Prominence& found, double times) {
  if (times < 1 + 3 * kSamePace) return false;
  const double hits = std::floor(found.dominance * static_cast<double>(found.compared));
  const double chance = times * tail(found.compared, static_cast<std::size_t>(hits), 1 / times);
  // By accident pauses are not much longer either.
  return chance < kChance * found.ratio * found.ratio;
}

}  // namespace

double Pace::median_ns() const {
  std::vector<double> periods;
  for (const Candidate& candidate : candidates) periods.push_back(candidate.fit.period_ns);
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

double merit(const RhythmFit& fit) { return fit.coverage + 0.01 * dominance(clearer(fit)); }

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

Prominence prominence(const Pace& pace) { return prominence_of(pace, clearer); }

const Pace* choose(std::vector<Pace>& paces) {
  std::sort(paces.begin(), paces.end(),
            [](const Pace& a, const Pace& b) { return a.period_ns < b.period_ns; });
  double best = 0;
  for (const Pace& pace : paces) best = std::max(best, pace.share);
  const Pace* fastest = nullptr;
  const Pace* chosen = nullptr;
  for (const Pace& pace : paces) {
    if (pace.share < kAboutAsGood * best) continue;
    if (fastest == nullptr) fastest = &pace;
    if (!is_prominent(prominence(pace))) continue;
    // Whether a pause is quiet depends on others and may alternate; its length does not.
    const auto as_they_are = [](const RhythmFit& fit) -> const auto& { return fit.pauses; };
    if (chosen == nullptr ||
        is_no_accident(prominence_of(pace, as_they_are), pace.period_ns / chosen->period_ns)) {
      chosen = &pace;
    }
  }
  return chosen != nullptr ? chosen : fastest;
}

}  // namespace tw::flow
