// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/faults.h"

#include "trainwire/base/error.h"
#include "trainwire/network/broken_links.h"
#include "trainwire/os/clock.h"
#include "trainwire/programs/jobs.h"
#include "trainwire/steps/fault_costs.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <map>

namespace tw::programs {
namespace {

using spec::FaultKind;

/// Between two looks at marks.
constexpr std::int64_t kMarksNs = 50'000'000;

void require_possible(const spec::Fault& fault, const lab::LaunchRequest& job) {
  if (fault.is_of_rank() && job.launcher == lab::Launcher::Mpi) {
    throw SpecError(
        "fault: with --launcher mpi ranks are started by mpirun, so that none can be killed or "
        "stopped alone; leave the fault out, or the launcher");
  }
}

/// A job's steps, over all ranks.
std::vector<steps::StepSpan> spans_of(const summarise::KnownJob& job) {
  std::map<std::int64_t, steps::StepSpan> spans;
  if (!job.log) return {};
  for (const imports::LoggedStep& step : job.log->steps) {
    const auto [at, is_new] = spans.try_emplace(
        step.step,
        steps::StepSpan{.step = step.step, .begin_ns = step.start_ns, .end_ns = step.end_ns});
    at->second.begin_ns = std::min(at->second.begin_ns, step.start_ns);
    at->second.end_ns = std::max(at->second.end_ns, step.end_ns);
  }
  std::vector<steps::StepSpan> result;
  for (const auto& [number, span] : spans) result.push_back(span);
  return result;
}

}  // namespace

FaultPlayer::FaultPlayer(const spec::Experiment& experiment, const lab::ConductRequest& request) {
  for (const spec::Fault& fault : experiment.faults) {
    std::size_t first = 0;
    std::size_t job = 0;
    while (job + 1 < experiment.jobs.size() && *experiment.jobs[job].name != *fault.job) {
      first += request.launches[job++].placement.size();
    }
    const lab::LaunchRequest& launch = request.launches[job];
    require_possible(fault, launch);
    Planned& planned = planned_.emplace_back();
    const int rank = fault.is_of_rank() ? **fault.rank : 0;
    planned.process = first + static_cast<std::size_t>(rank);
    if (!fault.is_of_rank()) planned.ports = network::ports_of(request.plan, fault);
    const int last = fault.is_of_rank() ? rank + 1 : static_cast<int>(launch.placement.size());
    for (int of = rank; *fault.step && of < last; ++of) {
      planned.marks.emplace_back(lab::marks_file(launch, of));
    }
    planned.steps.resize(planned.marks.size());
    played_.push_back({.fault = fault,
                       .where = fault.is_of_rank()
                                    ? fmt::format("rank {} of {}", rank, job_name(launch))
                                    : *fault.link});
  }
  for (const network::Port& port : request.plan.ports) rates_.push_back(port.rate);
}

void FaultPlayer::read_marks(std::int64_t now_ns) {
  if (now_ns - looked_ns_ < kMarksNs) return;
  looked_ns_ = now_ns;
  for (Planned& planned : planned_) {
    for (std::size_t i = 0; i < planned.marks.size(); ++i) {
      planned.steps[i] += std::ssize(planned.marks[i].look());
    }
  }
}

bool FaultPlayer::is_due(std::size_t i, std::int64_t now_ns) const {
  const spec::Fault& fault = played_[i].fault;
  if (*fault.at) return *started_ns_ + (*fault.at)->count() <= now_ns;
  return std::ranges::any_of(planned_[i].steps,
                             [&](std::int64_t steps) { return steps >= **fault.step; });
}

void FaultPlayer::look(lab::RankGroup& ranks, testbed::Cluster& cluster) {
  const std::int64_t now = os::real_time_ns();
  if (!started_ns_) started_ns_ = now;
  read_marks(now);
  for (std::size_t i = 0; i < played_.size(); ++i) {
    const bool is_there =
        !played_[i].fault.is_of_rank() || ranks.identity(planned_[i].process).pid > 0;
    if (!played_[i].begin_ns && is_there && is_due(i, now)) begin(i, now, ranks, cluster);
    if (!goes_on(i)) continue;
    const std::optional<Duration>& lasting = *played_[i].fault.lasting;
    if (lasting && *played_[i].begin_ns + lasting->count() <= now) {
      end(i, now, ranks, cluster);
    } else if (planned_[i].change_ns && *planned_[i].change_ns <= now) {
      flap(i, now, cluster);
    }
  }
}

void FaultPlayer::begin(std::size_t i, std::int64_t now_ns, lab::RankGroup& ranks,
                        testbed::Cluster& cluster) {
  const spec::Fault& fault = played_[i].fault;
  played_[i].begin_ns = now_ns;
  if (fault.is_of_rank()) {
    ranks.signal(planned_[i].process, *fault.kind == FaultKind::Kill ? SIGKILL : SIGSTOP);
  } else if (*fault.kind == FaultKind::LinkFlap) {
    flap(i, now_ns, cluster);
  } else {
    alter(planned_[i].ports, cluster);
  }
}

void FaultPlayer::end(std::size_t i, std::int64_t now_ns, lab::RankGroup& ranks,
                      testbed::Cluster& cluster) {
  played_[i].end_ns = now_ns;
  if (*played_[i].fault.kind == FaultKind::Stop) ranks.signal(planned_[i].process, SIGCONT);
  alter(planned_[i].ports, cluster);
}

void FaultPlayer::flap(std::size_t i, std::int64_t now_ns, testbed::Cluster& cluster) {
  Planned& planned = planned_[i];
  planned.is_down = !planned.is_down;
  planned.change_ns = now_ns + network::until_flap(played_[i].fault, planned.is_down).count();
  alter(planned.ports, cluster);
}

/// As the faults that go on leave them.
void FaultPlayer::alter(const std::vector<int>& ports, testbed::Cluster& cluster) const {
  std::vector<network::LinkFault> going_on;
  for (std::size_t i = 0; i < played_.size(); ++i) {
    if (!goes_on(i)) continue;
    going_on.push_back(
        {.fault = &played_[i].fault, .ports = planned_[i].ports, .is_down = planned_[i].is_down});
  }
  for (const int port : ports) {
    const network::PortChange change =
        network::change_of(port, rates_[static_cast<std::size_t>(port)], going_on);
    cluster.alter(port, {.rate = change.rate, .loss = change.loss});
  }
}

bool FaultPlayer::killed(std::size_t process) const {
  for (std::size_t i = 0; i < played_.size(); ++i) {
    if (planned_[i].process == process && played_[i].begin_ns &&
        *played_[i].fault.kind == FaultKind::Kill) {
      return true;
    }
  }
  return false;
}

std::vector<record::Fault> described(std::span<const PlayedFault> faults, std::int64_t started_ns,
                                     std::span<const summarise::KnownJob> jobs) {
  const auto since_start = [&](const std::optional<std::int64_t>& time) {
    return time ? std::optional(1e-9 * static_cast<double>(*time - started_ns)) : std::nullopt;
  };
  std::vector<record::Fault> result;
  std::vector<steps::FaultSpan> when;
  for (const PlayedFault& fault : faults) {
    result.push_back({.kind = std::string(network::word_of(*fault.fault.kind)),
                      .where = fault.where,
                      .begin_s = since_start(fault.begin_ns),
                      .end_s = since_start(fault.end_ns)});
    when.push_back({.begin_ns = fault.begin_ns, .end_ns = fault.end_ns});
  }
  for (const summarise::KnownJob& job : jobs) {
    const std::vector<steps::StepSpan> spans = spans_of(job);
    if (spans.empty()) continue;
    const auto costs = steps::fault_costs(job.name.empty() ? "job0" : job.name, spans, when);
    for (std::size_t i = 0; i < costs.size(); ++i) result[i].costs.push_back(costs[i]);
  }
  return result;
}

record::Check fault_check(std::span<const PlayedFault> faults) {
  const auto played =
      std::ranges::count_if(faults, [](const auto& fault) { return fault.begin_ns.has_value(); });
  record::Check check{.name = "faults",
                      .ok = played == std::ssize(faults),
                      .expected = fmt::format("{} played", faults.size()),
                      .found = fmt::format("{}", played),
                      .text = "every fault was played"};
  for (const PlayedFault& fault : faults) {
    if (fault.begin_ns) continue;
    check.text = *fault.fault.step
                     ? fmt::format(
                           "fault of {}: step {} never came, by the ranks' marks: a program marks "
                           "its steps in the "
                           "file that TRAINWIRE_MARKS names",
                           fault.where, **fault.fault.step)
                     : fmt::format("the run was over before the fault of {} was due", fault.where);
  }
  return check;
}

}  // namespace tw::programs
