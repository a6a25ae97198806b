// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/describe_faults.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace tw::sim {
namespace {

/// When a counted step went on, on any rank.
struct Span {
  Duration begin = Duration::max();
  Duration end = {};
};

std::string_view name_of(spec::FaultKind kind) {
  switch (kind) {
    case spec::FaultKind::Kill:
      return "kill";
    case spec::FaultKind::Stop:
      return "stop";
    case spec::FaultKind::LinkDown:
      return "link-down";
    case spec::FaultKind::LinkFlap:
      return "link-flap";
    case spec::FaultKind::Slow:
      return "slow";
    case spec::FaultKind::Loss:
      return "loss";
  }
  return "";
}

std::map<std::int64_t, Span> spans_of(const SimulatedJob& job) {
  std::map<std::int64_t, Span> spans;
  for (const play::Step& step : job.steps) {
    if (step.step < 0) continue;
    Span& span = spans[step.step];
    span.begin = std::min(span.begin, step.begin);
    span.end = std::max(span.end, step.end);
  }
  return spans;
}

bool touches(const PlayedFault& fault, const Span& span) {
  return fault.begin && *fault.begin < span.end && (!fault.end || *fault.end > span.begin);
}

/// A job's steps: when they were, and what they took.
struct Steps {
  std::map<std::int64_t, Span> spans = {};
  const std::vector<double>* times_s = nullptr;
  double usual_s = 0;
};

Steps steps_of(const SimulatedJob& job, const record::Job& described,
               const std::vector<PlayedFault>& faults) {
  Steps steps{.spans = spans_of(job)};
  if (!described.step || described.step->times_s.size() != steps.spans.size()) return steps;
  steps.times_s = &described.step->times_s;
  std::vector<double> untouched;
  std::size_t at = 0;
  for (const auto& [step, span] : steps.spans) {
    const double time = (*steps.times_s)[at++];
    const Span& when = span;
    if (std::none_of(faults.begin(), faults.end(),
                     [&](const PlayedFault& fault) { return touches(fault, when); })) {
      untouched.push_back(time);
    }
  }
  steps.usual_s = stats::median(untouched.empty() ? *steps.times_s : untouched);
  return steps;
}

record::FaultCost cost_of(const PlayedFault& fault, const std::string& job, const Steps& steps) {
  record::FaultCost cost{.job = job, .usual_s = steps.usual_s};
  if (steps.times_s == nullptr) return cost;
  std::size_t at = 0;
  for (const auto& [step, span] : steps.spans) {
    const double time = (*steps.times_s)[at++];
    if (!touches(fault, span)) continue;
    ++cost.steps;
    cost.longest_s = std::max(cost.longest_s, time);
    cost.cost_s += time - steps.usual_s;
  }
  return cost;
}

}  // namespace

std::vector<record::Fault> described_faults(const std::vector<record::Job>& jobs,
                                            const Simulated& simulated) {
  std::vector<record::Fault> described;
  if (simulated.faults.empty()) return described;
  std::vector<Steps> steps;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    steps.push_back(steps_of(simulated.jobs[i], jobs[i], simulated.faults));
  }
  for (const PlayedFault& fault : simulated.faults) {
    record::Fault& made = described.emplace_back();
    made.kind = name_of(*fault.fault.kind);
    made.where = fault.where;
    if (fault.begin) made.begin_s = seconds(*fault.begin);
    if (fault.end) made.end_s = seconds(*fault.end);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      made.costs.push_back(cost_of(fault, jobs[i].name, steps[i]));
    }
  }
  return described;
}

}  // namespace tw::sim
