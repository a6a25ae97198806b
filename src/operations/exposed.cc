// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/exposed.h"

#include <algorithm>
#include <numeric>

namespace tw::operations {
namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
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
    all += sum(steps);
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], steps[i]);
  }
  return all / static_cast<double>(exposed.size()) - sum(least);
}

}  // namespace tw::operations
