// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/training_run.h"

#include "trainwire/cli/interrupt.h"
#include "trainwire/cli/progress.h"
#include "trainwire/cli/status.h"
#include "trainwire/lab/loopback.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/spec/scale.h"
#include "trainwire/testbed/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tw::cli {
namespace {

lab::ConductRequest request_of(const TrainingPlace& place, const spec::Experiment& experiment) {
  lab::ConductRequest request;
  request.plan = network::make_plan(experiment);
  request.captures = *experiment.capture.enabled && !place.loopback();
  request.snap_length = *experiment.capture.snaplen;
  request.timeout = *experiment.run.timeout;
  request.checks_network = !place.no_check && !place.loopback();
  request.accepts_network = place.accept_network;
  return request;
}

/// "step 12 of 25, 3.2 steps/s, 4 s left, busiest link 0.94 Gbit/s".
class StepStatus {
 public:
  explicit StepStatus(Status& status) : status_(status) {}

  void set_rate(double bits_per_second) { rate_bps_ = bits_per_second; }

  void show(const lab::RankTalk& talk, const std::vector<lab::TrainingJob>& jobs) {
    const std::int64_t now = os::monotonic_ns();
    if (!talk.started() || now < due_ns_) return;
    due_ns_ = now + 200'000'000;
    if (began_ns_ == 0) began_ns_ = now;
    const workload::Training& training = jobs.front().training();
    const std::int64_t all = training.steps + training.warmup;
    const std::int64_t done = std::clamp<std::int64_t>(talk.step(0) + training.warmup, 0, all);
    const double elapsed = 1e-9 * static_cast<double>(now - began_ns_);
    std::string line = fmt::format("step {} of {}", done, all);
    if (done > 0 && elapsed > 0) {
      const double pace = static_cast<double>(done) / elapsed;
      line += fmt::format(", {:.2f} steps/s, {:.0f} s left", pace,
                          static_cast<double>(all - done) / pace);
    }
    if (rate_bps_ > 0) line += fmt::format(", busiest link {}", readable(BitRate(rate_bps_)));
    status_.tell(line);
  }

 private:
  Status& status_;
  std::int64_t began_ns_ = 0;
  std::int64_t due_ns_ = 0;
  double rate_bps_ = 0;
};

}  // namespace

void add_training_place(CommandLine& app, TrainingPlace& place) {
  app.add_option("--on", place.on,
                 "emulated: hosts are network namespaces; loopback: ranks on 127.0.0.x, nothing "
                 "shaped or captured")
      .type_name("PLACE")
      .one_of({"emulated", "loopback"});
  app.add_flag("--no-check", place.no_check, "do not measure the network before use");
  app.add_flag("--accept-network", place.accept_network,
               "go on although the network is more than 10 % off");
  app.add_flag("-q,--quiet", place.quiet, "no summary and no progress");
}

TrainingRun::TrainingRun(const TrainingPlace& place, const spec::Experiment& experiment,
                         Streams streams)
    : place_(place),
      experiment_(spec::scaled(experiment)),
      streams_(streams),
      request_(request_of(place, experiment_)) {
  // What cannot be run is told before anything is made.
  make_jobs("");
}

std::vector<lab::HostAddress> TrainingRun::hosts() const {
  if (place_.loopback()) return lab::loopback_hosts(static_cast<int>(request_.plan.hosts.size()));
  std::vector<lab::HostAddress> hosts;
  for (const network::HostPlan& host : request_.plan.hosts) {
    hosts.push_back({.name = host.name, .address = host.address});
  }
  return hosts;
}

void TrainingRun::prepare() {
  if (place_.loopback()) return;
  // First, since a user namespace hides what other runs left.
  ledger::clear_leftovers(ledger::state_folder());
  os::become_root_of_own_namespace();
  request_.engine = testbed::choose_engine(*experiment_.network.engine, request_.plan);
}

void TrainingRun::make_jobs(const std::string& folder) {
  request_.folder = folder;
  jobs_ = lab::training_jobs(experiment_, hosts(), folder);
  traffic_ = lab::cross_traffic(experiment_, request_.plan, hosts(), folder);
}

lab::ConductOutcome TrainingRun::conduct(lab::RankTalk& talk, lab::LiveLog* live) {
  Status status(streams_.err, !place_.quiet && is_terminal(streams_.err));
  StepStatus steps(status);
  const InterruptGuard guard;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  request_.commands = talk.commands(program);
  const std::size_t ranks = request_.commands.size();
  lab::TrafficTalk cross(traffic_);
  for (lab::RankCommand& command : cross.commands(program, static_cast<int>(jobs_.size()))) {
    request_.commands.push_back(std::move(command));
  }
  request_.tell = [&](const std::string& what) { status.tell(what); };
  request_.stop = [&] { return guard.interrupted(); };
  request_.care.attend = [&] {
    talk.attend(cross.ready());
    cross.attend(talk.started(), talk.done());
    steps.show(talk, jobs_);
    if (live) live->look(talk);
  };
  request_.rates = [&](std::span<const double> sent_bps) {
    if (live) live->set_rates(sent_bps);
    if (!sent_bps.empty()) steps.set_rate(*std::max_element(sent_bps.begin(), sent_bps.end()));
  };
  request_.care.explain = [&](std::size_t i) {
    return i < ranks ? talk.explain(i) : cross.explain(i - ranks);
  };
  lab::ConductOutcome outcome =
      place_.loopback() ? lab::conduct_on_loopback(request_) : lab::conduct(request_);
  traffic_outcomes_ = cross.outcomes();
  sinks_ = cross.sinks();
  return outcome;
}

record::LiveHeader TrainingRun::live_header() const {
  record::LiveHeader header{.name = *experiment_.name,
                            .started_ns = static_cast<std::uint64_t>(os::real_time_ns())};
  for (const network::HostPlan& host : request_.plan.hosts) header.hosts.push_back(host.name);
  if (!place_.loopback()) header.capacity_bps.emplace();
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

std::string TrainingRun::place_text() const {
  if (!place_.loopback()) return fmt::format("engine {}", testbed::name_of(request_.engine));
  return "loopback: no link is shaped, nothing is captured, times are this machine's";
}

}  // namespace tw::cli
