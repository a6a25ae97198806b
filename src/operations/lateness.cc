// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/lateness.h"

#include <algorithm>
#include <map>

namespace tw::operations {
namespace {

/// Of the step in which it is latest: from there on a rank is late in a step.
constexpr double kIsLate = 0.5;

double seconds(std::int64_t nanos) { return 1e-9 * static_cast<double>(nanos); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Lateness of last ranks that is their own. A rank that waited in one group comes late to the next one through no fault of
/// its own: by how much it is behind is kept, and all of a group leave it alike.
class OwnLateness {
 public:
  /// In order of time.
  double of(const Arrival& arrival) {
    std::vector<double> others;
    double last = 0;
    for (const Part& part : arrival.parts) {
      const double before_end = seconds(arrival.last_ns - part.start_ns);
      const double early = before_end + behind_s_[part.rank];
      if (part.rank == arrival.last_rank) {
        last = early;
      } else {
        others.push_back(early);
      }
    }
    const double usual = others.empty() ? last : median(others);
    for (const Part& part : arrival.parts) behind_s_[part.rank] = usual;
    return std::clamp(usual - last, 0.0, seconds(arrival.late_ns));
  }

 private:
  std::map<int, double> behind_s_;
};

/// Lateness of one rank by the step in which it came.
using BySteps = std::map<std::size_t, double>;

void put_steps(const BySteps& steps, Late& into) {
  double most = 0;
  for (const auto& [step, late_s] : steps) most = std::max(most, late_s);
  double sum = 0;
  for (const auto& [step, late_s] : steps) {
    if (late_s < kIsLate * most) continue;
    ++into.steps_late;
    sum += late_s;
  }
  if (into.steps_late > 0) into.when_late_s = sum / static_cast<double>(into.steps_late);
}

}  // namespace

std::vector<Late> lateness(const std::vector<Arrival>& arrivals,
                           const std::vector<std::int64_t>& starts_ns) {
  std::map<int, Late> by_rank;
  std::map<int, BySteps> by_step;
  double all = 0;
  OwnLateness own;
  for (const Arrival& arrival : arrivals) {
    if (!waits_for_all(arrival.op)) continue;
    const double late_s = own.of(arrival);
    Late& late = by_rank[arrival.last_rank];
    late.rank = arrival.last_rank;
    late.delay_s += late_s;
    ++late.times;
    all += late_s;
    const auto next = std::upper_bound(starts_ns.begin(), starts_ns.end(), arrival.last_ns);
    if (late_s > 0 && next != starts_ns.begin())
      by_step[late.rank][static_cast<std::size_t>(next - starts_ns.begin())] += late_s;
  }
  std::vector<Late> made;
  for (const auto& [rank, late] : by_rank) {
    if (all <= 0) break;
    made.push_back(late);
    made.back().share = late.delay_s / all;
    put_steps(by_step[rank], made.back());
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const Late& a, const Late& b) { return a.delay_s > b.delay_s; });
  return made;
}

}  // namespace tw::operations
