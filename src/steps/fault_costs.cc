// SPDX-License-Identifier: Apache-2.0
#include "trainwire/steps/fault_costs.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <limits>
#include <map>

namespace tw::steps {
namespace {

constexpr double kAsUsual = 1.2;

bool touches(const FaultSpan& fault, const StepSpan& step) {
  return fault.begin_ns && *fault.begin_ns < step.end_ns &&
         (!fault.end_ns || *fault.end_ns > step.begin_ns);
}

/// Ranks that are ahead begin a step before others have ended the one before: what both took counts
/// once.
std::vector<double> times_s(std::span<const StepSpan> steps) {
  std::vector<double> times;
  std::int64_t before_ns = std::numeric_limits<std::int64_t>::min();
  for (StepSpan step : steps) {
    step.begin_ns = std::min(step.end_ns, std::max(step.begin_ns, before_ns));
    before_ns = step.end_ns;
    times.push_back(step.time_s());
  }
  return times;
}

double usual_s(std::span<const StepSpan> steps, const std::vector<double>& times,
               std::span<const FaultSpan> faults) {
  std::vector<double> untouched;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::ranges::none_of(faults, [&](const FaultSpan& f) { return touches(f, steps[i]); })) {
      untouched.push_back(times[i]);
    }
  }
  if (times.empty()) return 0;
  return stats::median(untouched.empty() ? times : untouched);
}

}  // namespace

std::vector<StepSpan> step_spans(const std::vector<record::PhaseRow>& rows) {
  std::map<std::int64_t, StepSpan> spans;
  for (const record::PhaseRow& row : rows) {
    if (row.phase != record::Phase::Step || row.step < 0) continue;
    auto [at, is_new] = spans.try_emplace(
        row.step, StepSpan{.step = row.step, .begin_ns = row.start_ns, .end_ns = row.end_ns});
    at->second.begin_ns = std::min(at->second.begin_ns, row.start_ns);
    at->second.end_ns = std::max(at->second.end_ns, row.end_ns);
  }
  std::vector<StepSpan> all;
  for (const auto& [step, span] : spans) all.push_back(span);
  return all;
}

std::vector<record::FaultCost> fault_costs(const std::string& job, std::span<const StepSpan> steps,
                                           std::span<const FaultSpan> faults) {
  const std::vector<double> times = times_s(steps);
  const double usual = usual_s(steps, times, faults);
  std::vector<record::FaultCost> costs;
  for (const FaultSpan& fault : faults) {
    record::FaultCost& cost = costs.emplace_back();
    cost.job = job;
    cost.usual_s = usual;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!touches(fault, steps[i])) continue;
      ++cost.steps;
      cost.longest_s = std::max(cost.longest_s, times[i]);
      cost.cost_s += times[i] - usual;
    }
  }
  return costs;
}

std::optional<std::int64_t> usual_again(std::span<const StepSpan> steps, std::int64_t from_ns) {
  std::vector<double> before;
  for (const StepSpan& step : steps) {
    if (step.end_ns <= from_ns) before.push_back(step.time_s());
  }
  if (before.empty()) return {};
  const double most = kAsUsual * stats::median(before);
  for (const StepSpan& step : steps) {
    if (step.begin_ns >= from_ns && step.time_s() <= most) return step.begin_ns;
  }
  return {};
}

}  // namespace tw::steps
