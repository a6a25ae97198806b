// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/training.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/count.h"
#include "trainwire/trainer/parts.h"
#include "trainwire/workload/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::lab {
namespace {

using trainer::Task;

/// Sums of larger payloads are checked only on request: it costs a pass over them in every step.
constexpr Bytes kSmall = 16_MiB;
/// Beyond that, floats do not hold the sums of an asynchronous server exactly.
constexpr std::int64_t kMostSums = 10'000;

/// A preset says what its framework would use; what it puts on the wire is the same over tcp.
void require_runnable(const spec::Job& job) {
  if (*job.transport != "tcp" && job.transport.origin != spec::Origin::Preset) {
    throw SpecError(
        fmt::format("job {}: run moves bytes over tcp, not {}; set transport = \"tcp\" (--set "
                    "job.transport=tcp), or start a program that uses {} with `trainwire exec`",
                    *job.name, *job.transport, *job.transport));
  }
  if (*job.compute == spec::Compute::Torch) {
    throw SpecError(fmt::format(
        "job {}: compute = \"torch\" is not in this build; take \"profile\" or \"none\"",
        *job.name));
  }
}

std::int64_t scaled(std::int64_t elements, double divisor) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(elements) / divisor));
}

bool verifies(const spec::Job& job, const Task& task) {
  if (*job.verify != spec::Verify::Auto) return *job.verify == spec::Verify::On;
  const bool exact =
      !task.arrangement.asynchronous || (task.steps + task.warmup) * task.workers() <= kMostSums;
  return exact && Bytes(trainer::kElementBytes * task.elements()) <= kSmall;
}

Task common_task(const spec::Experiment& experiment, const spec::Job& job) {
  const zoo::Model model = workload::model_of(job);
  const workload::Compute compute = workload::compute_of(job, model);
  Task task;
  task.strategy = *job.strategy;
  task.arrangement = workload::arrangement_of(experiment, job);
  for (const auto& bucket : workload::timed_buckets(model, *job.bucket, compute.backward)) {
    task.buckets.push_back(
        {.elements = scaled(bucket.elements, job.payload_divisor), .ready = bucket.ready});
  }
  task.compute = {
      .forward = compute.forward, .backward = compute.backward, .jitter = *job.compute_jitter};
  task.steps = *job.steps;
  task.warmup = *job.warmup;
  // Pair averaging starts from models that differ: that is what it averages away.
  task.broadcast = *job.broadcast && *job.strategy != "pair_averaging";
  task.overlap = *job.overlap;
  task.connections = *job.connections;
  task.side_connections = *job.side_connections;
  task.seed = *experiment.run.seed;
  task.start = *job.start;
  task.verify = verifies(job, task);
  return task;
}

/// Adds what one schedule moves.
void add_transfers(const collective::Schedule& schedule, std::int64_t elements, bool replacing,
                   std::int64_t times, std::vector<std::vector<std::int64_t>>& bytes) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const collective::Transfer& t : transfers_of(schedule, rank)) {
      if (t.from != rank || (replacing && t.combine != collective::Combine::Replace)) continue;
      const std::int64_t moved =
          collective::chunk_begin(elements, schedule.chunks, t.chunk + t.width) -
          collective::chunk_begin(elements, schedule.chunks, t.chunk);
      bytes[static_cast<std::size_t>(t.from)][static_cast<std::size_t>(t.to)] +=
          times * trainer::kElementBytes * moved;
    }
  }
}

}  // namespace

std::string TrainingJob::label(std::size_t rank) const {
  const std::string& host = host_names[static_cast<std::size_t>(hosts[rank])];
  if (named) return fmt::format("rank {} of {} on {}", rank, name, host);
  return fmt::format("rank {} on {}", rank, host);
}

std::string steps_file(const std::string& folder, const std::string& job, int rank) {
  return fmt::format("{}/{}-rank{}-steps.tmp", folder, job, rank);
}

std::string sockets_file(const std::string& folder, const std::string& job, int rank) {
  return fmt::format("{}/{}-rank{}-sockets.tmp", folder, job, rank);
}

std::vector<TrainingJob> training_jobs(const spec::Experiment& experiment,
                                       std::span<const HostAddress> hosts,
                                       const std::string& folder) {
  if (experiment.jobs.empty()) {
    throw SpecError("there is no job to run: add a [[job]] to the experiment");
  }
  std::vector<TrainingJob> jobs;
  for (const spec::Job& job : experiment.jobs) {
    require_runnable(job);
    TrainingJob& made = jobs.emplace_back();
    made.name = *job.name;
    made.transport = *job.transport;
    made.named = experiment.jobs.size() > 1;
    made.hosts = spec::placement(experiment.network, job);
    for (const HostAddress& host : hosts) made.host_names.push_back(host.name);
    const Task common = common_task(experiment, job);
    const transport::tcp::Token token = transport::tcp::make_token();
    for (int rank = 0; rank < static_cast<int>(made.hosts.size()); ++rank) {
      const HostAddress& host =
          hosts[static_cast<std::size_t>(made.hosts[static_cast<std::size_t>(rank)])];
      Task& task = made.tasks.emplace_back(common);
      task.token = token;
      task.rank = rank;
      task.address = host.address;
      if (*job.straggler == host.name) task.compute.factor = *job.straggler_factor;
      task.log = steps_file(folder, made.name, rank);
      task.sockets = sockets_file(folder, made.name, rank);
    }
  }
  return jobs;
}

Bytes demand(const TrainingJob& job) {
  const Task& task = job.tasks.front();
  const collective::Schedule schedule = schedule_of(task);
  std::int64_t elements = 0;
  for (const trainer::Bucket& bucket : task.buckets) {
    elements += collective::count(schedule, task.arrangement.layout, bucket.elements)
                    .rank_sent_elements_max;
  }
  return Bytes(trainer::kElementBytes * elements);
}

std::vector<std::vector<std::int64_t>> scheduled_bytes(const TrainingJob& job) {
  const Task& task = job.tasks.front();
  const std::size_t ranks = job.tasks.size();
  std::vector<std::vector<std::int64_t>> bytes(ranks, std::vector<std::int64_t>(ranks));
  const std::int64_t steps = task.steps + task.warmup;
  if (task.strategy == "pair_averaging") {
    for (std::int64_t step = -task.warmup; step < task.steps; ++step) {
      add_transfers(schedule_of(task, step), task.elements(), false, 1, bytes);
    }
    return bytes;
  }
  const collective::Schedule schedule = schedule_of(task);
  for (const trainer::Bucket& bucket : task.buckets) {
    add_transfers(schedule, bucket.elements, false, steps, bytes);
    if (task.broadcast && task.strategy == "ps") {
      add_transfers(schedule, bucket.elements, true, 1, bytes);
    }
  }
  if (task.broadcast && task.strategy != "ps") {
    add_transfers(collective::broadcast(task.arrangement.layout), task.elements(), false, 1, bytes);
  }
  return bytes;
}

}  // namespace tw::lab
