// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/describe_faults.h"

#include "trainwire/network/broken_links.h"
#include "trainwire/steps/fault_costs.h"

#include <algorithm>
#include <map>

namespace tw::sim {
namespace {

std::optional<std::int64_t> count_of(const std::optional<Duration>& time) {
  return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}

/// When each counted step went on, on any rank.
std::vector<steps::StepSpan> spans_of(const SimulatedJob& job) {
  std::map<std::int64_t, steps::StepSpan> spans;
  for (const play::Step& step : job.steps) {
    if (step.step < 0) continue;
    const std::int64_t begin = step.begin.count();
    const std::int64_t end = step.end.count();
    const auto [at, is_new] = spans.try_emplace(
        step.step, steps::StepSpan{.step = step.step, .begin_ns = begin, .end_ns = end});
    at->second.begin_ns = std::min(at->second.begin_ns, begin);
    at->second.end_ns = std::max(at->second.end_ns, end);
  }
  std::vector<steps::StepSpan> all;
  for (const auto& [step, span] : spans) all.push_back(span);
  return all;
}

}  // namespace

std::vector<record::Fault> described_faults(const std::vector<record::Job>& jobs,
                                            const Simulated& simulated) {
  std::vector<record::Fault> described;
  std::vector<steps::FaultSpan> when;
  for (const PlayedFault& fault : simulated.faults) {
    record::Fault& made = described.emplace_back();
    made.kind = network::word_of(*fault.fault.kind);
    made.where = fault.where;
    if (fault.begin) made.begin_s = seconds(*fault.begin);
    if (fault.end) made.end_s = seconds(*fault.end);
    when.push_back({.begin_ns = count_of(fault.begin), .end_ns = count_of(fault.end)});
  }
  for (std::size_t i = 0; i < jobs.size() && !described.empty(); ++i) {
    const auto costs = steps::fault_costs(jobs[i].name, spans_of(simulated.jobs[i]), when);
    for (std::size_t f = 0; f < costs.size(); ++f) described[f].costs.push_back(costs[f]);
  }
  return described;
}

}  // namespace tw::sim
