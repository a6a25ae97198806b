// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/balance.h"

#include <algorithm>
#include <set>

namespace tw::operations {
namespace {

constexpr double kMostlyOne = 0.5;  ///< of all lateness is one rank's

double seconds(std::int64_t nanos) { return 1e-9 * static_cast<double>(nanos); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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
  std::int64_t sum = 0;
  for (const Span& span : spans) sum += span.end_ns - span.start_ns;
  return sum;
}

/// By file: when that rank was in a collective.
std::map<std::size_t, std::vector<Span>> spans_by_file(const std::vector<Arrival>& arrivals) {
  std::map<std::size_t, std::vector<Span>> spans;
  for (const Arrival& arrival : arrivals) {
    for (const Part& part : arrival.parts) spans[part.file].push_back({part.start_ns, part.end_ns});
  }
  for (auto& [file, each] : spans) each = joined(std::move(each));
  return spans;
}

void add_collective_time(const std::map<std::size_t, std::vector<Span>>& spans,
                         const std::vector<Told>& told, Balance& into) {
  for (const auto& [file, each] : spans) {
    into.in_collectives_s += seconds(length_of(each));
    into.hidden_s += seconds(common_ns(each, told[file].computing));
  }
  into.in_collectives_s /= static_cast<double>(spans.size());
  into.hidden_s /= static_cast<double>(spans.size());
}

/// Steps that a file with arrivals tells, or none.
std::vector<double> traced_steps(const std::map<std::size_t, std::vector<Span>>& spans,
                                 const std::vector<Told>& told) {
  for (const auto& [file, each] : spans) {
    std::vector<double> times;
    for (const Step& step : told[file].steps) times.push_back(seconds(step.duration_ns));
    if (!times.empty()) return times;
  }
  return {};
}

std::optional<Late> late_of(const std::vector<Arrival>& arrivals) {
  std::map<int, Late> by_rank;
  double all = 0;
  for (const Arrival& arrival : arrivals) {
    if (!waits_for_all(arrival.op)) continue;
    Late& late = by_rank[arrival.last_rank];
    late.rank = arrival.last_rank;
    late.delay_s += seconds(arrival.late_ns);
    ++late.times;
    all += seconds(arrival.late_ns);
  }
  const auto most = std::max_element(
      by_rank.begin(), by_rank.end(),
      [](const auto& a, const auto& b) { return a.second.delay_s < b.second.delay_s; });
  if (most == by_rank.end() || all <= 0) return {};
  Late late = most->second;
  late.share = late.delay_s / all;
  return late.share >= kMostlyOne ? std::optional(late) : std::nullopt;
}

}  // namespace

std::int64_t common_ns(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::int64_t common = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const std::int64_t start = std::max(a[i].start_ns, b[j].start_ns);
    const std::int64_t end = std::min(a[i].end_ns, b[j].end_ns);
    if (end > start) common += end - start;
    if (a[i].end_ns < b[j].end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

std::optional<Balance> balance_of(const std::vector<Arrival>& arrivals,
                                  const std::vector<Told>& told) {
  if (arrivals.empty()) return {};
  Balance made{.collectives = arrivals.size()};
  std::set<int> ranks;
  std::vector<double> skews;
  double bus_bits = 0;
  double bus_s = 0;
  for (const Arrival& arrival : arrivals) {
    for (const Part& part : arrival.parts) ranks.insert(part.rank);
    const int untold = arrival.group_size - static_cast<int>(arrival.parts.size());
    if (untold > made.without_file) {
      made.without_file = untold;
      made.group_size = arrival.group_size;
    }
    made.wait_s += arrival.mean_wait_s();
    made.transfer_s += seconds(arrival.transfer_ns());
    if (!waits_for_all(arrival.op)) continue;
    skews.push_back(seconds(arrival.last_ns - arrival.first_ns));
    if (!arrival.bytes) continue;
    bus_bits +=
        8 * bus_factor(arrival.op, arrival.group_size) * static_cast<double>(*arrival.bytes);
    bus_s += seconds(arrival.transfer_ns());
  }
  made.ranks = ranks.size();
  if (!skews.empty()) made.typical_skew_s = median(skews);
  if (bus_bits > 0 && bus_s > 0) made.busbw_bps = bus_bits / bus_s;
  const auto spans = spans_by_file(arrivals);
  add_collective_time(spans, told, made);
  made.late = late_of(arrivals);
  const std::vector<double> steps = traced_steps(spans, told);
  std::int64_t end_ns = 0;
  for (const Arrival& arrival : arrivals) end_ns = std::max(end_ns, arrival.end_ns);
  made.step_s = seconds(end_ns - arrivals.front().first_ns);
  if (steps.empty()) return made;
  made.steps = steps.size();
  made.step_s = median(steps);
  const double n = static_cast<double>(steps.size());
  for (double* each : {&made.in_collectives_s, &made.hidden_s, &made.wait_s, &made.transfer_s}) {
    *each /= n;
  }
  if (made.late) made.late->delay_s /= n;
  return made;
}

std::optional<Steps> steps_of(const std::vector<Told>& told) {
  std::optional<Steps> best;
  for (const Told& file : told) {
    std::map<int, Steps> by_rank;
    for (const Step& step : file.steps) {
      Steps& steps = by_rank[step.rank.value_or(0)];
      steps.times_s.push_back(seconds(step.duration_ns));
      if (step.start_ns) steps.starts_s.push_back(seconds(*step.start_ns));
    }
    for (auto& [rank, steps] : by_rank) {
      if (best && steps.times_s.size() <= best->times_s.size()) continue;
      steps.kind = file.kind;
      if (steps.starts_s.size() != steps.times_s.size()) steps.starts_s.clear();
      best = std::move(steps);
    }
  }
  return best;
}

}  // namespace tw::operations
