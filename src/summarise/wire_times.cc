// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/wire_times.h"

#include "trainwire/flow/bursts.h"

#include <algorithm>

namespace tw::summarise {
namespace {

constexpr double kMuch = 0.01;  ///< of the flow that carries most

std::vector<Stretch> stretches_of(const diagnose::Iterations& iterations) {
  std::vector<Stretch> made;
  for (std::size_t i = 1; i < iterations.steps.size(); ++i)
    made.push_back({iterations.steps[i].start_ns, iterations.steps[i].end_ns});
  return made;
}

}  // namespace

std::vector<Stretch> busy_times(const gather::Captured& traffic) {
  std::uint64_t most = 0;
  for (const flow::Flow& flow : traffic.flows) most = std::max(most, flow.stream_bytes());
  std::vector<flow::Burst> bursts;
  for (const flow::Flow& flow : traffic.flows) {
    if (static_cast<double>(flow.stream_bytes()) < kMuch * static_cast<double>(most)) continue;
    bursts.insert(bursts.end(), flow.bursts.begin(), flow.bursts.end());
  }
  flow::sort_by_start(bursts);
  flow::join_bursts(bursts, traffic.burst_gap_ns);
  std::vector<Stretch> made;
  for (const flow::Burst& each : bursts) made.push_back({each.start_ns, each.end_ns});
  return made;
}

std::vector<Stretch> steps_of_packets(const CaptureResult& result,
                                      const diagnose::AnalysisOptions& options) {
  if (!result.other_jobs.empty()) return {};
  if (!result.analysis.iterations.from_log) return stretches_of(result.analysis.iterations);
  diagnose::AnalysisOptions alone = options;
  alone.log.reset();
  return stretches_of(diagnose::analyse(result.traffic, alone).iterations);
}

}  // namespace tw::summarise
