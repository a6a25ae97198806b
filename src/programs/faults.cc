// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/faults.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
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

FaultPlayer::FaultPlayer(const spec::Experiment& experiment, const lab::ConductRequest& request)
    : course_(experiment, {.ports_of = [plan = request.plan](
                                           const auto& of) { return network::ports_of(plan, of); },
                           .rate_of =
                               [plan = request.plan](int port) {
                                 return plan.ports[static_cast<std::size_t>(port)].rate;
                               }}) {
  for (std::size_t i = 0; i < course_.size(); ++i) {
    const spec::Fault& fault = course_[i].fault;
    std::size_t first = 0;
    for (std::size_t job = 0; job < course_.job(i); ++job) {
      first += request.launches[job].placement.size();
    }
    const lab::LaunchRequest& launch = request.launches[course_.job(i)];
    require_possible(fault, launch);
    Planned& planned = planned_.emplace_back();
    const int rank = fault.is_of_rank() ? **fault.rank : 0;
    planned.process = first + static_cast<std::size_t>(rank);
    const int last = fault.is_of_rank() ? rank + 1 : static_cast<int>(launch.placement.size());
    for (int of = rank; *fault.step && of < last; ++of) {
      planned.marks.emplace_back(lab::marks_file(launch, of));
    }
    planned.steps.resize(planned.marks.size());
  }
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

bool FaultPlayer::has_step_come(std::size_t i) const {
  const std::optional<std::int64_t>& step = *course_[i].fault.step;
  return step &&
         std::ranges::any_of(planned_[i].steps, [&](std::int64_t steps) { return steps >= *step; });
}

void FaultPlayer::look(lab::RankGroup& ranks, testbed::Cluster& cluster) {
  const std::int64_t now = os::real_time_ns();
  if (!started_ns_) started_ns_ = now;
  read_marks(now);
  const auto alter = [&](int port, const network::PortChange& change) {
    cluster.alter(port, {.rate = change.rate, .loss = change.loss});
  };
  const auto is_there = [&](std::size_t i) {
    return !course_[i].fault.is_of_rank() || ranks.identity(planned_[i].process).pid > 0;
  };
  const auto signal_begin = [&](std::size_t i) {
    if (!course_[i].fault.is_of_rank()) return;
    const bool kills = *course_[i].fault.kind == FaultKind::Kill;
    ranks.signal(planned_[i].process, kills ? SIGKILL : SIGSTOP);
  };
  for (std::size_t i = 0; i < course_.size(); ++i) {
    if (course_.has_begun(i) || !has_step_come(i) || !is_there(i)) continue;
    course_.begin(i, Duration(now), alter);
    signal_begin(i);
  }
  for (const auto& [i, begins] :
       course_.advance(Duration(*started_ns_), Duration(now), alter, is_there)) {
    if (begins) signal_begin(i);
    if (!begins && *course_[i].fault.kind == FaultKind::Stop) {
      ranks.signal(planned_[i].process, SIGCONT);
    }
  }
}

bool FaultPlayer::killed(std::size_t process) const {
  for (std::size_t i = 0; i < course_.size(); ++i) {
    if (planned_[i].process == process && course_.has_begun(i) &&
        *course_[i].fault.kind == FaultKind::Kill) {
      return true;
    }
  }
  return false;
}

std::vector<record::Fault> described(std::span<const PlayedFault> faults, std::int64_t started_ns,
                                     std::span<const summarise::KnownJob> jobs) {
  const auto since_start = [&](const std::optional<Duration>& time) {
    return time ? std::optional(seconds(*time - Duration(started_ns))) : std::nullopt;
  };
  const auto count_of = [](const std::optional<Duration>& time) {
    return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
  };
  std::vector<record::Fault> result;
  std::vector<steps::FaultSpan> when;
  for (const PlayedFault& fault : faults) {
    result.push_back({.kind = std::string(network::word_of(*fault.fault.kind)),
                      .where = fault.where,
                      .begin_s = since_start(fault.begin),
                      .end_s = since_start(fault.end)});
    when.push_back({.begin_ns = count_of(fault.begin), .end_ns = count_of(fault.end)});
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
      std::ranges::count_if(faults, [](const auto& fault) { return fault.begin.has_value(); });
  record::Check check{.name = "faults",
                      .ok = played == std::ssize(faults),
                      .expected = fmt::format("{} played", faults.size()),
                      .found = fmt::format("{}", played),
                      .text = "every fault was played"};
  for (const PlayedFault& fault : faults) {
    if (fault.begin) continue;
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
