// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/fault_player.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <signal.h>

namespace tw::lab {
namespace {

using network::FaultCourse;
using spec::FaultKind;

int signal_of(const spec::Fault& fault) {
  return *fault.kind == FaultKind::Kill ? SIGKILL : SIGSTOP;
}

/// The rank plays it.
bool is_own(const spec::Fault& fault) { return fault.is_of_rank() && fault.step->has_value(); }

}  // namespace

FaultPlayer::FaultPlayer(const spec::Experiment& experiment, const network::NetPlan& plan)
    : course_(experiment,
              {.ports_of = [plan](const auto& fault) { return network::ports_of(plan, fault); },
               .rate_of =
                   [plan](int port) { return plan.ports[static_cast<std::size_t>(port)].rate; }}) {}

void FaultPlayer::require_no_links() const {
  for (std::size_t i = 0; i < course_.size(); ++i) {
    if (course_[i].fault.is_of_rank()) continue;
    throw SpecError(
        fmt::format("fault: on loopback there is no link {} to break; leave --on loopback out, or "
                    "the fault",
                    course_[i].where));
  }
}

void FaultPlayer::prepare(std::vector<TrainingJob>& jobs) const {
  for (std::size_t i = 0; i < course_.size(); ++i) {
    const spec::Fault& fault = course_[i].fault;
    if (!*fault.step) continue;
    std::vector<trainer::Task>& tasks = jobs[course_.job(i)].tasks;
    if (is_own(fault)) {
      tasks[static_cast<std::size_t>(**fault.rank)].survival.signals.push_back(
          {.step = **fault.step, .signal = signal_of(fault), .fault = static_cast<int>(i)});
      continue;
    }
    for (trainer::Task& task : tasks) task.survival.told_steps.push_back(**fault.step);
  }
}

void FaultPlayer::look(const RankTalk& talk, RankGroup& ranks, testbed::Cluster* cluster) {
  if (!talk.started() || talk.done()) return;
  const FaultCourse::Alter alter = [cluster](int port, const network::PortChange& change) {
    check(cluster != nullptr, "links are broken where there are some");
    cluster->alter(port, {.rate = change.rate, .loss = change.loss});
  };
  begin_by_step(talk, alter);
  const Duration start(talk.started_ns());
  for (const auto& [number, begins] : course_.advance(start, Duration(os::monotonic_ns()), alter)) {
    const spec::Fault& fault = course_[number].fault;
    if (begins && fault.is_of_rank()) signal(number, signal_of(fault), talk, ranks);
    if (!begins && *fault.kind == FaultKind::Stop) signal(number, SIGCONT, talk, ranks);
  }
}

/// Those that wait for a step: what a rank plays itself began when it says.
void FaultPlayer::begin_by_step(const RankTalk& talk, const FaultCourse::Alter& alter) {
  for (std::size_t i = 0; i < course_.size(); ++i) {
    const spec::Fault& fault = course_[i].fault;
    if (course_.has_begun(i) || !*fault.step) continue;
    if (is_own(fault)) {
      const auto told = talk.own_faults().find(static_cast<int>(i));
      if (told != talk.own_faults().end()) course_.begin(i, Duration(told->second), alter);
    } else if (talk.job(course_.job(i)).furthest() >= **fault.step) {
      course_.begin(i, Duration(os::monotonic_ns()), alter);
    }
  }
}

void FaultPlayer::signal(std::size_t fault, int signal, const RankTalk& talk,
                         RankGroup& ranks) const {
  const auto rank = static_cast<std::size_t>(**course_[fault].fault.rank);
  ranks.signal(talk.index(course_.job(fault), rank), signal);
}

}  // namespace tw::lab
