// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/describe.h"

#include "trainwire/record/json.h"
#include "trainwire/sim/describe_traffic.h"
#include "trainwire/spec/links.h"
#include "trainwire/spec/print.h"
#include "trainwire/steps/figures.h"
#include "trainwire/usage/links.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tw::sim {
namespace {

record::PhaseRow phase_row(int rank, std::int64_t step, record::Phase phase, Duration begin,
                           Duration end) {
  return {
      .rank = rank, .step = step, .phase = phase, .start_ns = begin.count(), .end_ns = end.count()};
}

record::CountedLink counted(const PortFigures& figures, const network::Request& request,
                            double seconds) {
  const double rate = seconds > 0 ? 8 * figures.wire_bytes / seconds : 0;
  return {.packets = figures.packets,
          .bytes = std::llround(figures.wire_bytes),
          .rate_bps = rate,
          .share = rate / request.rate.bits_per_second()};
}

record::Network links_of(const spec::Experiment& experiment, const Simulated& simulated) {
  const network::Network network(experiment.network);
  record::Network made;
  for (int i = 0; i < network.ports(); ++i) {
    const network::Request& request = network.request(i);
    record::Link& link = made.links.emplace_back(
        record::Link{.name = network.link_name(i / 2),
                     .direction = i % 2 == 0 ? "from_host" : "to_host",
                     .requested = {.rate_bps = request.rate.bits_per_second(),
                                   .delay_s = seconds(request.delay),
                                   .queue_bytes = request.queue.count()}});
    link.counted =
        counted(simulated.ports[static_cast<std::size_t>(i)], request, seconds(simulated.end));
  }
  return made;
}

std::int64_t sent_bytes(const SimulatedJob& job) {
  std::int64_t sum = 0;
  for (const auto& [pair, bytes] : job.bytes) sum += bytes;
  return sum;
}

/// What was simulated against what the schedules move.
record::Check schedule_check(const Simulated& simulated) {
  std::int64_t planned = 0;
  std::int64_t moved = 0;
  bool same = true;
  for (const SimulatedJob& job : simulated.jobs) {
    const auto expected = workload::bytes_by_rank(job.training);
    for (std::size_t from = 0; from < expected.size(); ++from) {
      for (std::size_t to = 0; to < expected.size(); ++to) {
        const auto found = job.gradients.find({static_cast<int>(from), static_cast<int>(to)});
        const std::int64_t bytes = found == job.gradients.end() ? 0 : found->second;
        planned += expected[from][to];
        moved += bytes;
        same = same && bytes == expected[from][to];
      }
    }
  }
  return {.name = "schedule",
          .ok = same,
          .expected = fmt::format("{} bytes scheduled", planned),
          .found = fmt::format("{} bytes moved", moved),
          .text = same ? "every rank sent each other rank what the schedule says"
                       : "ranks did not send each other what the schedule says"};
}

record::Check links_check(const record::Network& network) {
  double most = 0;
  for (const record::Link& link : network.links) most = std::max(most, link.counted->share);
  const bool ok = most <= 1 + 1e-6;
  return {.name = "links",
          .ok = ok,
          .expected = "at most 100 % of a link",
          .found = fmt::format("{:.4g} %", 100 * most),
          .text = ok ? "no link carried more than it can" : "a link carried more than it can"};
}

}  // namespace

std::vector<record::PhaseRow> phases_of(const SimulatedJob& job) {
  std::vector<record::PhaseRow> rows;
  for (const play::Step& step : job.steps) {
    rows.push_back(phase_row(step.rank, step.step, record::Phase::Step, step.begin, step.end));
    const auto found = job.exchanges.find({step.rank, step.step});
    if (found == job.exchanges.end()) continue;
    rows.push_back(phase_row(step.rank, step.step, record::Phase::Exchange, found->second.begin,
                             found->second.end));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return rows;
}

record::Run described(const spec::Experiment& experiment, const Simulated& simulated) {
  record::Run run{.command = "sim"};
  run.engine = name_of(simulated.level);
  for (const SimulatedJob& job : simulated.jobs) {
    run.jobs.push_back(steps::described(job.training, phases_of(job), sent_bytes(job), false));
  }
  if (!run.jobs.empty()) run.iterations = steps::logged_iterations(run.jobs.front());
  run.network = links_of(experiment, simulated);
  run.utilisation = usage::busiest(run.network);
  run.checks = {schedule_check(simulated), links_check(run.network)};
  if (!simulated.traffic.empty()) {
    const network::Network network(experiment.network);
    run.cross_traffic = described_traffic(network, simulated);
    run.checks.push_back(traffic_check(network, simulated));
  }
  run.duration_s = seconds(simulated.end);
  run.experiment = record::value_from(spec::to_json(experiment));
  return run;
}

void write_tables(const Simulated& simulated, const record::Run& run, record::RunFolder& folder) {
  folder.table("steps");
  for (const SimulatedJob& job : simulated.jobs) {
    steps::write_steps(phases_of(job), job.training.name, folder);
  }
  usage::write_links(run.network, folder.table("links"));
  write_cross_flows(simulated, folder);
}

}  // namespace tw::sim
