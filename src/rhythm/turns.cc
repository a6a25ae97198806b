// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/turns.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr double kBetween = 0.3;  ///< of the time from one long pause to the next

/// How far apart a channel's moments are from the nearest of another's, typically. REQUIRES: both have some.
double apart_ns(const std::vector<double>& moments, const std::vector<double>& others) {
  std::vector<double> distances;
  for (const double moment : moments) {
    const auto above = std::lower_bound(others.begin(), others.end(), moment);
    double nearest = std::numeric_limits<double>::infinity();
    if (above != others.end()) nearest = *above - moment;
    if (above != others.begin()) nearest = std::min(nearest, moment - *std::prev(above));
    distances.push_back(nearest);
  }
  return stats::median(std::move(distances));
}

}  // namespace

double turn_share(const Pace& pace) {
  double all = 0;
  double in_turn = 0;
  for (const Candidate& one : pace.candidates) {
    for (const Candidate& other : pace.candidates) {
      const RhythmFit::Halves& a = one.fit.halves;
      const RhythmFit::Halves& b = other.fit.halves;
      if (&one == &other || a.resumed_ns.empty() || b.resumed_ns.empty()) continue;
      const double weight = a.longer_ns * b.longer_ns;
      all += weight;
      if (apart_ns(a.resumed_ns, b.resumed_ns) > kBetween * pace.period_ns) in_turn += weight;
    }
  }
  return all > 0 ? in_turn / all : 0;
}

}  // namespace tw::rhythm
