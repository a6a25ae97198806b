// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/measure.h"

#include "trainwire/account/packets.h"
#include "trainwire/base/error.h"
#include "trainwire/fleet/device.h"
#include "trainwire/fleet/fleet.h"
#include "trainwire/gpu/facts.h"
#include "trainwire/gpu/mps.h"
#include "trainwire/lab/checks.h"
#include "trainwire/lab/outcome.h"
#include "trainwire/lab/traffic_figures.h"
#include "trainwire/lab/traffic_talk.h"
#include "trainwire/lab/unshaped.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/own_program.h"
#include "trainwire/programs/explain.h"
#include "trainwire/programs/faults.h"
#include "trainwire/programs/jobs.h"
#include "trainwire/programs/live_view.h"
#include "trainwire/programs/marks.h"
#include "trainwire/programs/nccl_check.h"
#include "trainwire/programs/sockets.h"
#include "trainwire/record/json.h"
#include "trainwire/spec/print.h"
#include "trainwire/spec/scale.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace tw::programs {
namespace {

/// Between two looks at whose sockets there are.
constexpr std::int64_t kSocketsNs = 200'000'000;

std::vector<lab::HostAddress> hosts_of(const network::NetPlan& plan) {
  std::vector<lab::HostAddress> hosts;
  for (const network::HostPlan& host : plan.hosts) {
    hosts.push_back({.name = host.name, .address = host.address});
  }
  return hosts;
}

class Measurement {
 public:
  Measurement(const spec::Experiment& experiment, const ProgramOptions& options,
              lab::ConductRequest request, const Onlooker& onlooker)
      : experiment_(experiment),
        options_(options),
        onlooker_(onlooker),
        request_(std::move(request)),
        sockets_(request_.launches.size()) {}

  MeasuredPrograms run(record::RunFolder& folder) && {
    folder.table("links");
    if (options_.place.launch) {
      meet_hosts();
      if (fleet_->interrupted()) {
        MeasuredPrograms nothing;
        nothing.interrupted = true;
        return nothing;
      }
    }
    request_.folder = std::filesystem::absolute(folder.path()).string();
    for (lab::LaunchRequest& job : request_.launches) job.marks_folder = request_.folder;
    if (options_.shares_gpu) share_gpu();
    traffic_.entries = lab::cross_traffic(spec::scaled(experiment_), request_.plan,
                                          hosts_of(request_.plan), request_.folder);
    faults_.emplace(spec::scaled(experiment_), request_);
    LiveView view(experiment_, request_, onlooker_.line);
    conduct(view);
    tell("analysing");
    analyse();
    lab::write_tables(captured_, outcome_, request_.plan, folder);
    lab::take_flows(traffic_, folder);
    MeasuredPrograms measured;
    measured.run = record_of();
    measured.interrupted = outcome_.interrupted;
    measured.failure = outcome_.failure;
    if (measured.is_whole() && onlooker_.judge) onlooker_.judge(measured.run);
    folder.finish(measured.run, lab::partial_of(outcome_));
    view.end(measured.is_whole() ? "done" : lab::partial_of(outcome_));
    if (!options_.place.keeps_captures && !*experiment_.capture.keep) {
      lab::remove_captures(outcome_);
    }
    measured.outcome = std::move(outcome_);
    measured.captured = std::move(captured_);
    return measured;
  }

 private:
  void tell(const std::string& what) const {
    if (onlooker_.tell) onlooker_.tell(what);
  }

  void meet_hosts() {
    fleet_ = std::make_unique<fleet::Fleet>(
        fleet::FleetOptions{.launch = *options_.place.launch,
                            .hosts = static_cast<int>(request_.plan.hosts.size()),
                            .longest_start = request_.timeout,
                            .tell = onlooker_.tell,
                            .stop = onlooker_.stop});
    if (!fleet_->interrupted()) lab::take_names(request_.plan, *fleet_);
  }

  /// What a fleet's launcher starts is one process.
  bool is_one_process(const lab::LaunchRequest& job) const {
    if (!options_.place.launch) return job.launcher == lab::Launcher::Mpi;
    const fleet::LaunchKind kind = options_.place.launch->kind;
    return kind == fleet::LaunchKind::Srun || kind == fleet::LaunchKind::Mpirun;
  }

  void share_gpu() {
    gpu_ = gpu::find();
    mps_ = std::make_unique<gpu::Mps>(gpu_.mps_control, request_.folder + "/mps");
    for (lab::LaunchRequest& job : request_.launches) {
      job.gpu = lab::SharedGpu{.environment = mps_->environment(), .log_folder = request_.folder};
    }
    request_.companion.begin = [this](const testbed::Programs& programs, ledger::Ledger& ledger) {
      tell("starting MPS");
      mps_->start(programs, ledger);
    };
    request_.companion.end = [this](const testbed::Programs& programs) { mps_->stop(programs); };
  }

  std::size_t rank_processes() const {
    std::size_t count = 0;
    for (const lab::LaunchRequest& job : request_.launches) {
      count += is_one_process(job) ? 1 : job.placement.size();
    }
    return count;
  }

  void conduct(LiveView& view) {
    lab::TrafficTalk cross(traffic_.entries);
    request_.commands =
        cross.commands(os::own_program(), static_cast<int>(request_.launches.size()));
    const std::size_t ranks = rank_processes();
    std::size_t ended = 0;
    std::int64_t sockets_due = 0;
    request_.tell = onlooker_.tell;
    request_.stop = onlooker_.stop;
    bool begun = false;
    request_.started = [&](const lab::RankCommand& command, const os::ProcessIdentity& process) {
      if (!std::exchange(begun, true)) view.begin();
      const auto job = static_cast<std::size_t>(command.group);
      if (job < request_.launches.size()) sockets_.add(job, process.pid);
    };
    request_.care.ended = [&](std::size_t i, const os::Ending&) { ended += i < ranks; };
    request_.care.attend = [&] {
      cross.attend(cross.ready(), ended == ranks);
      view.look();
      if (request_.launches.size() < 2 || os::monotonic_ns() < sockets_due) return;
      sockets_.look();
      sockets_due = os::monotonic_ns() + kSocketsNs;
    };
    request_.care.explain = [&](std::size_t i) {
      if (i >= ranks) return cross.explain(i - ranks);
      std::string meaning = meaning_of_file(output_of(i));
      for (std::size_t other = 0; meaning.empty() && other < ranks; ++other) {
        if (faults_->killed(other)) meaning = "a fault had killed another rank before";
      }
      return lab::RankCare::Explanation{.text = meaning.empty() ? "" : "(" + meaning + ")",
                                        .cause = !meaning.empty() || !lost_a_peer(output_of(i))};
    };
    request_.steer = [&](lab::RankGroup& group, testbed::Cluster* cluster) {
      if (cluster != nullptr) faults_->look(group, *cluster);
    };
    request_.care.survives = [&](std::size_t i, const os::Ending&) { return faults_->killed(i); };
    request_.rates = [&](std::span<const double> ports_bps) { view.set_rates(ports_bps); };
    if (fleet_) view.begin();
    outcome_ = fleet_ ? lab::conduct_on_fleet(request_, *fleet_) : lab::conduct(request_);
    traffic_.outcomes = cross.outcomes();
    sinks_ = cross.sinks();
  }

  /// Of the i-th process.
  std::string output_of(std::size_t i) const {
    for (const lab::LaunchRequest& job : request_.launches) {
      const std::size_t count = is_one_process(job) ? 1 : job.placement.size();
      if (i < count) {
        return fmt::format("{}/{}rank{}.txt", request_.folder,
                           job.name.empty() ? "" : fmt::format("job{}-", job.job), i);
      }
      i -= count;
    }
    return {};
  }

  void analyse() {
    std::vector<summarise::KnownJob>& known = known_;
    for (const lab::LaunchRequest& job : request_.launches) {
      known.push_back({.name = job.name, .log = read_marks(job)});
      add_marked(job, known.back().log, steps_);
    }
    lab::Endpoints endpoints{.sinks = {sinks_.begin(), sinks_.end()},
                             .ranks = sockets_.endpoints()};
    if (fleet_) {
      endpoints.own_clocks = true;
      for (const fleet::Device& device : fleet::devices()) {
        endpoints.sinks.push_back({.address = device.address, .port = fleet_->port()});
      }
    }
    captured_ = lab::analysed(outcome_, request_.plan, known, endpoints);
    captured_.log = known.front().log;
  }

  record::Run record_of() const {
    record::Run run = lab::described("exec", captured_, outcome_, request_);
    run.checks = lab::conduct_checks(outcome_, request_, captured_);
    if (fleet_) {
      run.engine = request_.shapes.empty() ? lab::kHosts : lab::kShapedHosts;
      run.checks.push_back(lab::clocks_check(*fleet_));
    }
    if (mps_)
      run.checks.insert(run.checks.begin() + 1, {gpu_check(), nccl_check(request_.launches)});
    if (!traffic_.entries.empty() && captured_.traffic.totals.packets > 0) {
      run.checks.push_back(lab::traffic_check(traffic_, captured_));
    }
    run.steps = steps_;
    if (!faults_->played().empty()) {
      run.checks.push_back(fault_check(faults_->played()));
      run.faults = described(faults_->played(), outcome_.started.real_ns, known_);
    }
    usage::share(run.network, request_.plan, lab::sent_by(captured_, request_.plan));
    run.utilisation = usage::busiest(run.network);
    if (!traffic_.entries.empty()) {
      run.cross_traffic =
          lab::described(traffic_, lab::gradient_pairs(captured_, request_.plan, traffic_.entries));
    }
    account::add_of_packets(run);
    run.experiment = record::value_from(spec::to_json(experiment_));
    return run;
  }

  record::Check gpu_check() const {
    return {.name = "gpu",
            .ok = true,
            .expected = "one GPU, shared by the ranks",
            .found = gpu::card_words(gpu_),
            .text = fmt::format("{} ranks shared {}", rank_processes(), gpu::card_words(gpu_))};
  }

  const spec::Experiment& experiment_;
  const ProgramOptions& options_;
  const Onlooker& onlooker_;
  lab::ConductRequest request_;
  std::unique_ptr<fleet::Fleet> fleet_;
  lab::ConductOutcome outcome_;
  Sockets sockets_;
  lab::TrafficResult traffic_;
  std::vector<transport::tcp::Endpoint> sinks_;
  std::optional<FaultPlayer> faults_;
  std::vector<summarise::KnownJob> known_;
  gpu::Facts gpu_;
  std::unique_ptr<gpu::Mps> mps_;
  summarise::CaptureResult captured_;
  record::MarkedSteps steps_;
};

}  // namespace

lab::ConductRequest request_of(const spec::Experiment& experiment, const ProgramOptions& options) {
  lab::ConductRequest request;
  const spec::Experiment scaled = spec::scaled(experiment);
  request.plan = network::make_plan(scaled);
  request.launches = program_jobs(scaled, options.command);
  for (lab::LaunchRequest& launch : request.launches) {
    launch.launcher = options.launcher;
    launch.environment = options.environment;
  }
  request.captures = *experiment.capture.enabled;
  if (options.place.shapes) request.shapes = fleet::shapes_of(request.plan);
  request.snap_length = *experiment.capture.snaplen;
  request.timeout = *experiment.run.timeout;
  request.checks_network = options.place.checks_network && !options.place.launch;
  request.accepts_network = options.place.accepts_network;
  FaultPlayer(scaled, request);  // what cannot be played is told before anything is made
  return request;
}

void require_gpu(const ProgramOptions& options) {
  if (!options.shares_gpu) return;
  if (const auto why = gpu::why_not_shared(gpu::find())) {
    throw SystemError(fmt::format("--gpu shared: {}", *why));
  }
}

MeasuredPrograms measure(const spec::Experiment& experiment, const ProgramOptions& options,
                         lab::ConductRequest request, record::RunFolder& folder,
                         const Onlooker& onlooker) {
  return Measurement(experiment, options, std::move(request), onlooker).run(folder);
}

}  // namespace tw::programs
