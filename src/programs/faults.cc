// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/faults.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/programs/jobs.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <map>

namespace tw::programs {
namespace {

using spec::FaultKind;

/// Between two looks at marks.
constexpr std::int64_t kMarksNs = 50'000'000;

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::Kill:
      return "kill";
    case FaultKind::Stop:
      return "stop";
    case FaultKind::LinkDown:
      return "link-down";
    case FaultKind::LinkFlap:
      return "link-flap";
    case FaultKind::Slow:
      return "slow";
    case FaultKind::Loss:
      return "loss";
  }
  return "";
}

void require_possible(const spec::Fault& fault, const lab::LaunchRequest& job) {
  if (!fault.is_of_rank()) {
    throw SpecError(
        fmt::format("fault: exec kills and stops ranks, and cannot break link {}; `trainwire sim` "
                    "can, or leave it out",
                    *fault.link));
  }
  if (job.launcher == lab::Launcher::Mpi) {
    throw SpecError(
        "fault: with --launcher mpi ranks are started by mpirun, so that none can be killed or "
        "stopped alone; leave the fault out, or the launcher");
  }
}

/// A step of a job, over all ranks.
struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  double time_s() const { return 1e-9 * static_cast<double>(end_ns - begin_ns); }
};

std::vector<Span> spans_of(const summarise::KnownJob& job) {
  std::map<std::int64_t, Span> spans;
  if (!job.log) return {};
  for (const imports::LoggedStep& step : job.log->steps) {
    const auto [at, is_new] =
        spans.try_emplace(step.step, Span{.begin_ns = step.start_ns, .end_ns = step.end_ns});
    at->second.begin_ns = std::min(at->second.begin_ns, step.start_ns);
    at->second.end_ns = std::max(at->second.end_ns, step.end_ns);
  }
  std::vector<Span> result;
  for (const auto& [number, span] : spans) result.push_back(span);
  return result;
}

bool touches(const PlayedFault& fault, const Span& span) {
  return fault.begin_ns && *fault.begin_ns < span.end_ns &&
         (!fault.end_ns || *fault.end_ns > span.begin_ns);
}

double usual_s(const std::vector<Span>& steps, std::span<const PlayedFault> faults) {
  std::vector<double> all;
  std::vector<double> untouched;
  for (const Span& step : steps) {
    all.push_back(step.time_s());
    if (std::ranges::none_of(faults, [&](const auto& fault) { return touches(fault, step); })) {
      untouched.push_back(step.time_s());
    }
  }
  return stats::median(untouched.empty() ? all : untouched);
}

record::FaultCost cost_of(const PlayedFault& fault, const std::string& job,
                          const std::vector<Span>& steps, double usual) {
  record::FaultCost cost{.job = job, .usual_s = usual};
  for (const Span& step : steps) {
    if (!touches(fault, step)) continue;
    ++cost.steps;
    cost.longest_s = std::max(cost.longest_s, step.time_s());
    cost.cost_s += step.time_s() - usual;
  }
  return cost;
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
    Planned& planned =
        planned_.emplace_back(Planned{.process = first + static_cast<std::size_t>(**fault.rank)});
    if (*fault.step) planned.marks.emplace(lab::marks_file(launch, **fault.rank));
    played_.push_back(
        {.fault = fault, .where = fmt::format("rank {} of {}", **fault.rank, job_name(launch))});
  }
}

bool FaultPlayer::is_due(std::size_t i, std::int64_t now_ns) {
  const spec::Fault& fault = played_[i].fault;
  if (*fault.at) return *started_ns_ + (*fault.at)->count() <= now_ns;
  return planned_[i].steps >= **fault.step;
}

void FaultPlayer::look(lab::RankGroup& ranks) {
  const std::int64_t now = os::real_time_ns();
  if (!started_ns_) started_ns_ = now;
  if (now - looked_ns_ >= kMarksNs) {
    looked_ns_ = now;
    for (Planned& planned : planned_) {
      if (planned.marks) planned.steps += std::ssize(planned.marks->look());
    }
  }
  for (std::size_t i = 0; i < played_.size(); ++i) {
    PlayedFault& played = played_[i];
    if (!played.begin_ns && is_due(i, now) && ranks.identity(planned_[i].process).pid > 0) {
      played.begin_ns = now;
      ranks.signal(planned_[i].process, *played.fault.kind == FaultKind::Kill ? SIGKILL : SIGSTOP);
    }
    const std::optional<Duration>& lasting = *played.fault.lasting;
    if (!played.begin_ns || played.end_ns || !lasting) continue;
    if (*played.begin_ns + lasting->count() > now) continue;
    played.end_ns = now;
    ranks.signal(planned_[i].process, SIGCONT);
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
  for (const PlayedFault& fault : faults) {
    result.push_back({.kind = std::string(name_of(*fault.fault.kind)),
                      .where = fault.where,
                      .begin_s = since_start(fault.begin_ns),
                      .end_s = since_start(fault.end_ns)});
  }
  for (const summarise::KnownJob& job : jobs) {
    const std::vector<Span> steps = spans_of(job);
    if (steps.empty()) continue;
    const double usual = usual_s(steps, faults);
    for (std::size_t i = 0; i < faults.size(); ++i) {
      result[i].costs.push_back(
          cost_of(faults[i], job.name.empty() ? "job0" : job.name, steps, usual));
    }
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
    check.text =
        *fault.fault.step
            ? fmt::format(
                  "{} was never at step {}, by its marks: a program marks its steps in the "
                  "file that TRAINWIRE_MARKS names",
                  fault.where, **fault.fault.step)
            : fmt::format("the run was over before {} was due", fault.where);
  }
  return check;
}

}  // namespace tw::programs
