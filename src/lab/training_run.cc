// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/training_run.h"

#include "trainwire/lab/unshaped.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/lessons/lessons.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/spec/scale.h"
#include "trainwire/testbed/choose.h"

#include <algorithm>

namespace tw::lab {
namespace {

constexpr const char* kLoopback = "loopback";

ConductRequest request_of(const RunPlace& place, const spec::Experiment& experiment) {
  ConductRequest request;
  request.plan = network::make_plan(experiment);
  request.captures = *experiment.capture.enabled && !place.loopback;
  if (place.shapes) request.shapes = fleet::shapes_of(request.plan);
  request.snap_length = *experiment.capture.snaplen;
  request.timeout = *experiment.run.timeout;
  request.checks_network = place.checks_network && !place.loopback && !place.launch;
  request.accepts_network = place.accepts_network;
  return request;
}

RunProgress progress_of(const RankTalk& talk, const TrainingJob& first) {
  const workload::Training& training = first.training();
  const std::int64_t all = training.steps + training.warmup;
  return {.steps_done = std::clamp<std::int64_t>(talk.step(0) + training.warmup, 0, all),
          .steps = all};
}

}  // namespace

TrainingRun::TrainingRun(const RunPlace& place, const spec::Experiment& experiment)
    : place_(place),
      experiment_(spec::scaled(experiment)),
      request_(request_of(place, experiment_)) {
  // What cannot be run is told before anything is made.
  make_jobs("");
  for (const TrainingJob& job : jobs_) lessons::require_data(job.name, job.training());
}

std::vector<HostAddress> TrainingRun::hosts() const {
  if (place_.loopback) return loopback_hosts(static_cast<int>(request_.plan.hosts.size()));
  std::vector<HostAddress> hosts;
  for (const network::HostPlan& host : request_.plan.hosts) {
    hosts.push_back({.name = host.name, .address = host.address});
  }
  return hosts;
}

void TrainingRun::prepare(const Observer& observer) {
  if (place_.loopback) return;
  // First, since a user namespace hides what other runs left.
  ledger::clear_leftovers(ledger::state_folder());
  if (place_.launch) {
    fleet_ = std::make_unique<fleet::Fleet>(
        fleet::FleetOptions{.launch = *place_.launch,
                            .hosts = static_cast<int>(request_.plan.hosts.size()),
                            .longest_start = request_.timeout,
                            .tell = observer.tell,
                            .stop = observer.stop});
    if (!fleet_->interrupted()) take_names(request_.plan, *fleet_);
    return;
  }
  os::become_root_of_own_namespace();
  request_.engine = testbed::choose_engine(*experiment_.network.engine, request_.plan);
}

void TrainingRun::make_jobs(const std::string& folder) {
  request_.folder = folder;
  jobs_ = training_jobs(experiment_, hosts(), folder);
  faults_ = FaultPlayer(experiment_, request_.plan);
  faults_.prepare(jobs_);
  if (place_.loopback || place_.launch) faults_.require_no_links();
  traffic_.entries = cross_traffic(experiment_, request_.plan, hosts(), folder);
}

ConductOutcome TrainingRun::conduct(RankTalk& talk, const Observer& observer, LiveLog* live) {
  const os::OwnProgram program = os::own_program();
  request_.commands = talk.commands(program);
  const std::size_t ranks = request_.commands.size();
  TrafficTalk cross(traffic_.entries);
  for (RankCommand& command : cross.commands(program, static_cast<int>(jobs_.size()))) {
    request_.commands.push_back(std::move(command));
  }
  double busiest_bps = 0;
  request_.tell = observer.tell;
  request_.stop = observer.stop;
  request_.care.attend = [&] {
    talk.attend(cross.ready());
    cross.attend(talk.started(), talk.done());
    if (observer.progress && talk.started()) {
      RunProgress progress = progress_of(talk, jobs_.front());
      progress.busiest_bps = busiest_bps;
      observer.progress(progress);
    }
    if (live) live->look(talk);
  };
  request_.rates = [&](std::span<const double> ports_bps) {
    if (live) live->set_rates(ports_bps, request_.plan);
    if (!ports_bps.empty()) busiest_bps = *std::max_element(ports_bps.begin(), ports_bps.end());
  };
  request_.care.explain = [&](std::size_t i) {
    return i < ranks ? talk.explain(i) : cross.explain(i - ranks);
  };
  request_.care.survives = [&](std::size_t i, const os::Ending& ending) {
    return i < ranks && talk.survives(i, ending);
  };
  request_.care.awaits = [&] { return talk.awaits(); };
  request_.care.broken = [&] { return talk.failure(); };
  request_.steer = [&](RankGroup& group, testbed::Cluster* cluster) {
    faults_.look(talk, group, cluster);
    talk.steer(group);
  };
  ConductOutcome outcome = fleet_            ? conduct_on_fleet(request_, *fleet_)
                           : place_.loopback ? conduct_on_loopback(request_)
                                             : lab::conduct(request_);
  traffic_.outcomes = cross.outcomes();
  sinks_ = cross.sinks();
  return outcome;
}

record::LiveHeader TrainingRun::live_header() const {
  record::LiveHeader header{.name = *experiment_.name,
                            .started_ns = static_cast<std::uint64_t>(os::real_time_ns())};
  for (const network::HostPlan& host : request_.plan.hosts) header.hosts.push_back(host.name);
  if (!place_.loopback && (!place_.launch || place_.shapes)) header.capacity_bps.emplace();
  for (const network::Port& port : request_.plan.ports) {
    const bool from_host = static_cast<std::size_t>(port.from) < header.hosts.size();
    if (from_host && header.capacity_bps) {
      header.capacity_bps->emplace_back(port.rate.bits_per_second());
    }
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const workload::Training& training = jobs_[i].training();
    header.jobs.push_back({.name = jobs_[i].name,
                           .model = *experiment_.jobs[i].model,
                           .strategy = training.strategy,
                           .ranks = jobs_[i].tasks.size(),
                           .steps = static_cast<std::uint64_t>(training.steps),
                           .warmup = static_cast<std::uint64_t>(training.warmup)});
  }
  return header;
}

std::string engine_name(const TrainingRun& run) {
  if (run.fleet() != nullptr) return run.request().shapes.empty() ? kHosts : kShapedHosts;
  return run.loopback() ? kLoopback : std::string(testbed::name_of(run.request().engine));
}

}  // namespace tw::lab
