// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/training.h"

#include "trainwire/base/error.h"
#include "trainwire/carrier/programs.h"
#include "trainwire/spec/framework.h"

#include <fmt/format.h>

namespace tw::lab {
namespace {

using trainer::Task;
using workload::Training;

/// Sums of larger payloads are checked only on request: it costs a pass over them in every step.
constexpr Bytes kSmall = 16_MiB;
/// Beyond that, floats do not hold the sums of an asynchronous server exactly.
constexpr std::int64_t kMostSums = 10'000;

void require_runnable(const spec::Job& job) {
  if (*job.transport == "rdma") {
    throw SpecError(fmt::format(
        "job {}: run moves bytes over tcp, not rdma; play it with `trainwire sim --level packet`, "
        "or set transport = \"tcp\" (--set job.transport=tcp)",
        *job.name));
  }
  const bool is_known = *job.transport == "tcp" || carrier::is_carried(*job.transport);
  if (!is_known && job.transport.origin != spec::Origin::Preset) {
    throw SpecError(
        fmt::format("job {}: run cannot move bytes over {} yet; set transport = \"tcp\" (--set "
                    "job.transport=tcp)",
                    *job.name, *job.transport));
  }
  if (*job.on_failure != spec::OnFailure::Abort && *job.asynchronous && job.has_servers) {
    throw SpecError(fmt::format(
        "job {}: on_failure: asynchronous servers hold what no checkpoint has; take on_failure = "
        "\"abort\", or asynchronous = false",
        *job.name));
  }
  if (*job.on_failure != spec::OnFailure::Abort && *job.compute == spec::Compute::Train &&
      *job.gradient == spec::Gradient::TopK) {
    throw SpecError(
        fmt::format("job {}: on_failure: what top-k has kept back goes with a rank; take "
                    "on_failure = \"abort\", "
                    "or gradient = \"fp32\"",
                    *job.name));
  }
  const bool is_carried =
      carrier::is_carried(*job.transport) && job.transport.origin != spec::Origin::Preset;
  if (*job.on_failure != spec::OnFailure::Abort && is_carried) {
    throw SpecError(fmt::format(
        "job {}: on_failure: {} ends with a lost peer; take on_failure = \"abort\", or transport = "
        "\"tcp\"",
        *job.name, *job.transport));
  }
  if (*job.compute == spec::Compute::Torch) {
    throw SpecError(fmt::format(
        "job {}: compute = \"torch\" is not in this build; take \"train\", \"profile\" or \"none\"",
        *job.name));
  }
}

/// Whose program carries the job's gradients; none for our own sockets. A preset only says what its
/// framework would use: without a library that may not be there its bytes are the same, so that an
/// experiment gives the same figures on every machine. What the file names itself must be there.
std::string carrier_of(const spec::Job& job) {
  if (job.transport.origin == spec::Origin::Preset || !carrier::is_carried(*job.transport))
    return {};
  std::string program = carrier::program_of(*job.transport);
  if (!program.empty()) return program;
  const carrier::Transport& transport = carrier::transport_named(*job.transport);
  throw SpecError(fmt::format(
      "job {}: this trainwire was built without {}; install {} and build again, or set transport = "
      "\"tcp\" (--set job.transport=tcp)",
      *job.name, transport.library, transport.package));
}

bool verifies(const spec::Job& job, const Training& training) {
  if (training.learning) return false;  // what real gradients sum to nobody knows beforehand
  if (*job.verify != spec::Verify::Auto) return *job.verify == spec::Verify::On;
  const bool exact = !training.arrangement.asynchronous ||
                     (training.steps + training.warmup) * training.workers() <= kMostSums;
  return exact && training.bytes() <= kSmall;
}

/// Checkpoints: of all together, or of each that has a model of its own.
trainer::Survival survival_of(const spec::Job& job, const Training& training, int rank,
                              std::size_t number, const std::string& folder) {
  trainer::Survival survival{.checkpoint_every = *job.checkpoint_every};
  survival.checkpoint_folder = job.checkpoint_folder->value_or(folder);
  survival.checkpoint_name = training.row().draws_peers
                                 ? file_name(number, static_cast<std::size_t>(rank))
                                 : fmt::format("job{}", number);
  return survival;
}

/// Attempts that find nobody listening, dealt out over the ordered pairs of ranks.
std::vector<int> refused_by(int attempts, int rank, int ranks) {
  std::vector<int> peers;
  for (int pair = 0; pair < attempts && ranks > 1; ++pair) {
    const int from = pair / (ranks - 1) % ranks;
    if (from == rank) peers.push_back((from + 1 + pair % (ranks - 1)) % ranks);
  }
  return peers;
}

}  // namespace

std::string TrainingJob::label(std::size_t rank) const {
  const std::string& host = host_names[static_cast<std::size_t>(hosts[rank])];
  if (named) return fmt::format("rank {} of {} on {}", rank, name, host);
  return fmt::format("rank {} on {}", rank, host);
}

std::string file_name(std::size_t job, std::size_t rank) {
  return fmt::format("job{}-rank{}", job, rank);
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
    const Training training = workload::training_of(experiment, job);
    TrainingJob& made = jobs.emplace_back();
    made.name = *job.name;
    made.transport = *job.transport;
    made.carrier = carrier_of(job);
    made.named = experiment.jobs.size() > 1;
    made.hosts = training.arrangement.layout.host_of;
    made.policy = {.on_failure = *job.on_failure,
                   .timeout = *job.failure_timeout,
                   .restart_after = *job.restart_after};
    for (const HostAddress& host : hosts) made.host_names.push_back(host.name);
    const transport::tcp::Token token = transport::tcp::make_token();
    const spec::BesideConnections beside = spec::beside_connections(job, training.ranks());
    for (int rank = 0; rank < static_cast<int>(made.hosts.size()); ++rank) {
      const HostAddress& host =
          hosts[static_cast<std::size_t>(made.hosts[static_cast<std::size_t>(rank)])];
      const std::string file =
          fmt::format("{}/{}", folder, file_name(jobs.size() - 1, static_cast<std::size_t>(rank)));
      made.tasks.push_back({.training = training,
                            .rank = rank,
                            .token = token,
                            .address = host.address,
                            .transport = made.carrier.empty() ? "tcp" : made.transport,
                            .carrier = made.carrier,
                            .log = file + "-steps.tmp",
                            .sockets = file + "-sockets.tmp",
                            .verify = verifies(job, training),
                            .idle_connections = beside.idle,
                            .refused_by = refused_by(beside.refused, rank, training.ranks()),
                            .survival = survival_of(job, training, rank, jobs.size() - 1, folder)});
    }
  }
  return jobs;
}

void log_transfers(std::vector<TrainingJob>& jobs, const std::string& folder) {
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    for (std::size_t rank = 0; rank < jobs[job].tasks.size(); ++rank) {
      jobs[job].tasks[rank].transfers =
          fmt::format("{}/{}-transfers.tmp", folder, file_name(job, rank));
    }
  }
}

}  // namespace tw::lab
