// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/fault_player.h"

#include "trainwire/base/error.h"
#include "trainwire/network/broken_links.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace tw::lab {
namespace {

using spec::FaultKind;

std::size_t job_numbered(const spec::Experiment& experiment, const std::string& name) {
  const auto found = std::find_if(experiment.jobs.begin(), experiment.jobs.end(),
                                  [&](const spec::Job& job) { return *job.name == name; });
  return static_cast<std::size_t>(found - experiment.jobs.begin());
}

int signal_of(const spec::Fault& fault) {
  return *fault.kind == FaultKind::Kill ? SIGKILL : SIGSTOP;
}

/// The rank plays it.
bool is_own(const spec::Fault& fault) { return fault.is_of_rank() && fault.step->has_value(); }

}  // namespace

FaultPlayer::FaultPlayer(const spec::Experiment& experiment, const network::NetPlan& plan) {
  for (const network::Port& port : plan.ports) rates_.push_back(port.rate);
  for (const spec::Fault& fault : experiment.faults) {
    Planned& planned = faults_.emplace_back();
    planned.played.fault = fault;
    planned.job = job_numbered(experiment, *fault.job);
    planned.played.where =
        fault.is_of_rank() ? fmt::format("rank {} of {}", **fault.rank, *fault.job) : *fault.link;
    if (!fault.is_of_rank()) planned.ports = network::ports_of(plan, fault);
  }
}

void FaultPlayer::require_no_links() const {
  for (const Planned& fault : faults_) {
    if (fault.played.fault.is_of_rank()) continue;
    throw SpecError(
        fmt::format("fault: on loopback there is no link {} to break; leave --on loopback out, or "
                    "the fault",
                    fault.played.where));
  }
}

void FaultPlayer::prepare(std::vector<TrainingJob>& jobs) const {
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const spec::Fault& fault = faults_[i].played.fault;
    if (!*fault.step) continue;
    std::vector<trainer::Task>& tasks = jobs[faults_[i].job].tasks;
    if (is_own(fault)) {
      tasks[static_cast<std::size_t>(**fault.rank)].survival.signals.push_back(
          {.step = **fault.step, .signal = signal_of(fault), .fault = static_cast<int>(i)});
      continue;
    }
    for (trainer::Task& task : tasks) task.survival.told_steps.push_back(**fault.step);
  }
}

bool FaultPlayer::is_due(const Planned& fault, std::size_t number, const RankTalk& talk,
                         std::int64_t now_ns) const {
  const spec::Fault& of = fault.played.fault;
  if (is_own(of)) return talk.own_faults().contains(static_cast<int>(number));
  if (*of.at) return talk.started_ns() + (*of.at)->count() <= now_ns;
  return talk.job(fault.job).furthest() >= **of.step;
}

void FaultPlayer::look(const RankTalk& talk, RankGroup& ranks, testbed::Cluster* cluster) {
  if (!talk.started() || talk.done()) return;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    Planned& fault = faults_[i];
    const std::int64_t now = os::monotonic_ns();
    if (!fault.played.begin_ns && is_due(fault, i, talk, now))
      begin(fault, i, talk, ranks, cluster);
    if (!fault.goes_on()) continue;
    const std::optional<Duration>& lasting = *fault.played.fault.lasting;
    if (lasting && *fault.played.begin_ns + lasting->count() <= now) {
      end(fault, talk, ranks, cluster);
    } else if (fault.change_ns && *fault.change_ns <= now) {
      flap(fault, cluster);
    }
  }
}

void FaultPlayer::begin(Planned& fault, std::size_t number, const RankTalk& talk, RankGroup& ranks,
                        testbed::Cluster* cluster) {
  const spec::Fault& of = fault.played.fault;
  fault.played.begin_ns =
      is_own(of) ? talk.own_faults().at(static_cast<int>(number)) : os::monotonic_ns();
  if (of.is_of_rank()) {
    const std::size_t rank = talk.index(fault.job, static_cast<std::size_t>(**of.rank));
    if (!is_own(of)) ranks.signal(rank, signal_of(of));
    return;
  }
  if (*of.kind == FaultKind::LinkFlap) return flap(fault, cluster);
  alter(fault.ports, cluster);
}

void FaultPlayer::end(Planned& fault, const RankTalk& talk, RankGroup& ranks,
                      testbed::Cluster* cluster) {
  const spec::Fault& of = fault.played.fault;
  fault.played.end_ns = os::monotonic_ns();
  if (*of.kind == FaultKind::Stop) {
    ranks.signal(talk.index(fault.job, static_cast<std::size_t>(**of.rank)), SIGCONT);
  }
  if (!of.is_of_rank()) alter(fault.ports, cluster);
}

/// Down for the first part of each period, up for the rest.
void FaultPlayer::flap(Planned& fault, testbed::Cluster* cluster) {
  const spec::Fault& of = fault.played.fault;
  fault.is_down = !fault.is_down;
  fault.change_ns = os::monotonic_ns() + network::until_flap(of, fault.is_down).count();
  alter(fault.ports, cluster);
}

/// As the faults that go on leave them.
void FaultPlayer::alter(const std::vector<int>& ports, testbed::Cluster* cluster) const {
  check(cluster != nullptr, "links are broken where there are some");
  std::vector<network::LinkFault> going_on;
  for (const Planned& fault : faults_) {
    if (!fault.goes_on()) continue;
    going_on.push_back(
        {.fault = &fault.played.fault, .ports = fault.ports, .is_down = fault.is_down});
  }
  for (const int port : ports) {
    const network::PortChange change =
        network::change_of(port, rates_[static_cast<std::size_t>(port)], going_on);
    cluster->alter(port, {.rate = change.rate, .loss = change.loss});
  }
}

std::vector<PlayedFault> FaultPlayer::played() const {
  std::vector<PlayedFault> all;
  for (const Planned& fault : faults_) all.push_back(fault.played);
  return all;
}

}  // namespace tw::lab
