// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/bench.h"

#include "trainwire/os/clock.h"
#include "trainwire/trainer/bucket_exchange.h"
#include "trainwire/trainer/gradients.h"
#include "trainwire/trainer/outcome.h"
#include "trainwire/trainer/step_log.h"
#include "trainwire/workload/script.h"

#include <algorithm>
#include <span>

namespace tw::trainer {
namespace {

/// One size: once with a check, then timed without.
BenchResult bench_row(const Task& all, const BenchRow& row, const RankConnections& all_connections,
                      StepLog& log, std::vector<WireCount>& counts) {
  const std::span<const transport::tcp::Connection> connections = all_connections.gradient;
  const auto cpu_ns = [&] {
    const auto& carrier = all_connections.carrier_cpu_ns;
    return os::process_cpu_ns() + (carrier ? carrier() : 0);
  };
  Task task = all;
  task.training.buckets = {{.elements = row.elements}};
  std::vector<float> payload(static_cast<std::size_t>(row.elements));
  if (!task.is_server()) fill(payload, 0, task.rank, 0);
  BucketExchange exchange(task, payload, connections, log, {.patience = task.patience});
  exchange.begin(0, 0);
  BenchResult result{.elements = row.elements};
  result.wrong = outcome_of(step_schedule(task.training), task.rank, payload, 0, 0).wrong;
  std::ranges::fill(payload, 0.0f);
  exchange.begin(0, 0);
  const std::int64_t begin = os::monotonic_ns();
  const std::int64_t cpu_begin = cpu_ns();
  for (int i = 0; i < row.repeats; ++i) exchange.begin(i, 0);
  result.cpu_ns = (cpu_ns() - cpu_begin) / row.repeats;
  result.time_ns = (os::monotonic_ns() - begin) / row.repeats;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i].sent += exchange.counts()[i].sent;
  }
  return result;
}

}  // namespace

LoopResult run_bench(const Task& task, const RankConnections& connections, const LoopHooks& hooks) {
  StepLog log("/dev/null");
  LoopResult result;
  result.counts.resize(connections.gradient.size());
  for (std::size_t i = 0; i < task.bench.size(); ++i) {
    if (hooks.told) hooks.told(static_cast<std::int64_t>(i));
    result.bench.push_back(bench_row(task, task.bench[i], connections, log, result.counts));
    result.checked += task.bench[i].elements;
    result.wrong += result.bench.back().wrong;
    log.flush();
  }
  hooks.leave();
  return result;
}

}  // namespace tw::trainer
