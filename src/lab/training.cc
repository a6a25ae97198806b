// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/training.h"

#include "trainwire/base/error.h"
#include "trainwire/carrier/programs.h"
#include "trainwire/medium/group_paths.h"
#include "trainwire/multicast/datagram.h"
#include "trainwire/spec/framework.h"
#include "trainwire/workload/casts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

void require_multicast(const spec::Job& job, const Training& training) {
  if (*job.distribution != spec::Distribution::Multicast) return;
  std::string problem = workload::group_problem(training, collective::Combine::Replace);
  if (problem.empty() && !carrier_of(job).empty()) {
    problem = fmt::format("{} joins ranks by two and two", *job.transport);
  }
  if (problem.empty()) return;
  throw SpecError(fmt::format("job {}: distribution = \"multicast\": {}; set it to \"unicast\"",
                              *job.name, problem));
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

constexpr int kUdp = 8;
constexpr int kEthernet = 14;
/// What receivers' sockets hold even where they may not ask for more.
constexpr int kMostWindow = 128;
/// Packets in a host's own queue: enough to keep its line busy, at most half of what it holds.
constexpr int kLeastAhead = 4;
constexpr int kMostAhead = 64;

/// How many groups speak to the rank that is in most.
int most_beside(const std::vector<workload::Cast>& casts) {
  std::map<int, int> beside;
  for (const workload::Cast& cast : casts) {
    for (const int member : cast.members) ++beside[member];
  }
  int most = 1;
  for (const auto& [rank, groups] : beside) most = std::max(most, groups);
  return most;
}

/// How much may be on its way: what the network holds (medium/group_paths.h), for all groups of the
/// job that has that number.
trainer::Casting casting_of(const spec::Experiment& experiment, const workload::Training& training,
                            std::size_t job) {
  trainer::Casting casting{
      .multicasts = *experiment.jobs[job].distribution == spec::Distribution::Multicast,
      .job = static_cast<int>(job)};
  if (!casting.multicasts) return casting;
  const int ip = *experiment.network.ip_version == 6 ? 40 : 20;
  const int headers = ip + kUdp + static_cast<int>(multicast::kHeaderBytes);
  const int frame = *experiment.network.mtu + kEthernet;
  casting.payload_bytes = *experiment.network.mtu - headers;
  casting.window = kMostWindow;
  casting.ahead = kMostAhead;
  casting.round_trip = {};
  const network::Network network(experiment.network);
  const auto request = [&](int port) { return network.request(port); };
  const std::vector<workload::Cast> casts = casts_of(training, exchanges_of(training));
  const collective::Layout& layout = training.arrangement.layout;
  for (const workload::Cast& cast : casts) {
    medium::GroupRequest group{.hub = layout.host(cast.hub), .beside = most_beside(casts)};
    for (const int member : cast.members) group.members.push_back(layout.host(member));
    const medium::GroupPath path = group_path(
        network, group, {.frame_bytes = frame, .header_bytes = kEthernet + headers}, request);
    casting.window = std::clamp(path.room, 1, casting.window);
    casting.round_trip = std::max(casting.round_trip, path.round_trip);
    const int own_port = network.path(group.hub, group.members.front()).front();
    const auto held = static_cast<int>(request(own_port).queue.count() / 2 / frame);
    casting.ahead = std::clamp(held, kLeastAhead, casting.ahead);
  }
  return casting;
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
    require_multicast(job, training);
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
    const trainer::Casting casting = casting_of(experiment, training, jobs.size() - 1);
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
                            .casting = casting,
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
