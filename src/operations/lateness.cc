// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/lateness.h"

#include <algorithm>
#include <map>
#include <numeric>

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

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
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

/// By the step in which it came, the first of what is before all steps.
using BySteps = std::vector<double>;

/// Of a rank that comes last: how late, and how much of that others waited before the step began, as where hosts run ahead of their devices.
struct LateSteps {
  BySteps late = {};
  BySteps before = {};
};

/// What computing hides of lateness costs nobody anything.
double cost(LateSteps& of_rank, const std::vector<double>& most_s) {
  BySteps& steps = of_rank.late;
  double sum = 0;
  double left_s = 0;  // of the step before, in which others waited and nobody was late
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double counted = std::min(steps[i], most_s[i]);
    const double more = std::min({steps[i] - counted, of_rank.before[i], left_s});
    left_s = std::max(0.0, most_s[i] - counted);
    steps[i] = counted + more;
    sum += steps[i];
  }
  return std::max(0.0, sum);
}

void put_steps(const BySteps& steps, Late& into) {
  const double most = *std::max_element(steps.begin(), steps.end());
  double sum = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] <= 0 || steps[i] < kIsLate * most) continue;
    ++into.steps_late;
    sum += steps[i];
  }
  if (into.steps_late > 0) into.when_late_s = sum / static_cast<double>(into.steps_late);
}

}  // namespace

std::vector<Span> joined(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
  std::vector<Span> made;
  for (const Span& span : spans) {
    if (!made.empty() && span.start_ns <= made.back().end_ns) {
      made.back().end_ns = std::max(made.back().end_ns, span.end_ns);
    } else {
      made.push_back(span);
    }
  }
  return made;
}

std::int64_t length_of(const std::vector<Span>& spans) {
  std::int64_t length = 0;
  for (const Span& span : spans) length += span.end_ns - span.start_ns;
  return length;
}

std::vector<Span> without(const std::vector<Span>& spans, const std::vector<Span>& other) {
  std::vector<Span> made;
  auto hides = other.begin();
  for (Span span : spans) {
    while (hides != other.end() && hides->end_ns <= span.start_ns) ++hides;
    for (auto each = hides; each != other.end() && each->start_ns < span.end_ns; ++each) {
      if (each->start_ns > span.start_ns) made.push_back({span.start_ns, each->start_ns});
      span.start_ns = std::max(span.start_ns, each->end_ns);
    }
    if (span.end_ns > span.start_ns) made.push_back(span);
  }
  return made;
}

std::vector<double> by_step(const std::vector<Span>& spans,
                            const std::vector<std::int64_t>& starts_ns) {
  std::vector<double> made(starts_ns.size() + 1);
  for (Span span : spans) {
    auto next = std::upper_bound(starts_ns.begin(), starts_ns.end(), span.start_ns);
    while (span.end_ns > span.start_ns) {
      const std::int64_t end = next == starts_ns.end() ? span.end_ns : std::min(*next, span.end_ns);
      made[static_cast<std::size_t>(next - starts_ns.begin())] +=
          1e-9 * static_cast<double>(end - span.start_ns);
      span.start_ns = end;
      if (next != starts_ns.end()) ++next;
    }
  }
  return made;
}

std::vector<double> exposed_after_s(const Exposed& exposed, int rank) {
  std::vector<double> made = exposed.at(rank);
  for (std::size_t step = 0; step < made.size(); ++step) {
    std::vector<double> others;
    for (const auto& [each, steps] : exposed) {
      if (each != rank) others.push_back(steps[step]);
    }
    if (others.empty()) return std::vector<double>(made.size());
    const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
    std::nth_element(others.begin(), middle, others.end());
    made[step] = *middle - made[step];
  }
  return made;
}

double exposed_above_least_s(const Exposed& exposed) {
  if (exposed.empty()) return 0;
  std::vector<double> least = exposed.begin()->second;
  double all = 0;
  for (const auto& [rank, steps] : exposed) {
    all += sum_of(steps);
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], steps[i]);
  }
  return all / static_cast<double>(exposed.size()) - sum_of(least);
}

std::vector<Late> lateness(const std::vector<Arrival>& arrivals,
                           const std::vector<std::int64_t>& starts_ns, const Exposed& exposed) {
  std::map<int, Late> by_rank;
  std::map<int, LateSteps> steps_of;
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
    LateSteps& steps = steps_of[late.rank];
    steps.late.resize(starts_ns.size() + 1);
    steps.before.resize(starts_ns.size() + 1);
    const auto step = static_cast<std::size_t>(next - starts_ns.begin());
    steps.late[step] += late_s;
    if (step > 0)
      steps.before[step] += std::max(0.0, late_s - seconds(arrival.last_ns - starts_ns[step - 1]));
  }
  std::vector<Late> made;
  for (auto& [rank, late] : by_rank) {
    if (all <= 0) break;
    late.share = late.delay_s / all;
    late.delay_s = cost(steps_of[rank], exposed_after_s(exposed, rank));
    put_steps(steps_of[rank].late, late);
    made.push_back(late);
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const Late& a, const Late& b) { return a.delay_s > b.delay_s; });
  return made;
}

}  // namespace tw::operations
