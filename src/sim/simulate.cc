// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/simulate.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/count.h"
#include "trainwire/sim/closed_form.h"
#include "trainwire/sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::sim {
namespace {

/// A second or two: then every message is simulated.
constexpr double kFewMessages = 3e5;
/// Some hours.
constexpr double kMostMessages = 5e9;
/// Of a step: ranks hold both ends of each, in some 10 GB.
constexpr double kMostTransfers = 3e7;
/// Messages times those that they may share a link with: some hours.
constexpr double kMostLooks = 3e11;

/// Of a step.
double transfers_of(const workload::Training& training) {
  const collective::Schedule schedule = step_schedule(training);
  double transfers = 0;
  for (const workload::Bucket& bucket : training.buckets) {
    transfers += static_cast<double>(
        collective::count(schedule, training.arrangement.layout, bucket.elements).transfers);
  }
  return transfers;
}

/// How often a message's end may change another's rate: a rank sends to all its peers at a time, and
/// receives from them.
double looks_of(const workload::Training& training) {
  const collective::Schedule schedule = step_schedule(training);
  double looks = 0;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    double transfers = 0, peers = 0;
    for (const collective::Strand& strand : schedule.program(rank)) {
      const bool has_one = strand.from_stride == 0 && strand.to_stride == 0;
      transfers += static_cast<double>(strand.count);
      peers += has_one ? 1 : static_cast<double>(strand.count);
    }
    looks += transfers * peers;
  }
  return looks * static_cast<double>(training.buckets.size()) *
         static_cast<double>(training.steps + training.warmup);
}

/// Of all steps, first models left out.
double messages_of(const workload::Training& training) {
  return transfers_of(training) * static_cast<double>(training.steps + training.warmup);
}

/// Whether there are more, without counting them all where each transfer moves something.
bool are_more(const workload::Training& training, double messages) {
  const collective::Schedule schedule = step_schedule(training);
  const auto is_cut = [&](const workload::Bucket& b) { return b.elements >= schedule.chunks; };
  if (!std::all_of(training.buckets.begin(), training.buckets.end(), is_cut)) {
    return messages_of(training) > messages;
  }
  const double times = static_cast<double>(training.buckets.size()) *
                       static_cast<double>(training.steps + training.warmup);
  double transfers = 0;
  for (int rank = 0; rank < schedule.ranks && times * transfers <= messages; ++rank) {
    for (const collective::Strand& strand : schedule.program(rank)) {
      if (strand.from == rank && strand.from_stride == 0)
        transfers += static_cast<double>(strand.count);
    }
  }
  return times * transfers > messages;
}

bool are_many(const spec::Experiment& experiment) {
  double few = 0;
  for (const spec::Job& job : experiment.jobs) {
    const workload::Training training = workload::training_of(experiment, job);
    if (are_more(training, kFewMessages - few)) return true;
    if (experiment.jobs.size() > 1) few += messages_of(training);
  }
  return false;
}

/// Of both what stood against them.
std::string because(const std::string& closed, const std::string& at_once) {
  return closed == at_once ? closed : closed + ", and " + at_once;
}

/// Throws SpecError where messages are too many to be simulated one by one.
void require_an_end(const spec::Experiment& experiment, const std::string& reason) {
  for (const spec::Job& job : experiment.jobs) {
    const workload::Training training = workload::training_of(experiment, job);
    const double transfers = transfers_of(training);
    const double messages = messages_of(training);
    if (messages <= kMostMessages && transfers <= kMostTransfers &&
        looks_of(training) <= kMostLooks) {
      continue;
    }
    throw SpecError(fmt::format(
        "job {}: {:.0f} messages would be simulated one by one, {:.0f} of a step held in memory, "
        "because {}; take fewer ranks or steps, or what is answered otherwise: broadcast = false "
        "and, of rings, no two hops that share a link",
        *job.name, messages, transfers, reason));
  }
}

}  // namespace

std::vector<play::Step> all_steps(const SimulatedJob& job) {
  std::vector<play::Step> steps = job.steps;
  for (const regular::RingStep& step : job.rounds) {
    for (std::size_t i = 0; i < step.times->begin.size(); ++i) {
      steps.push_back({.rank = static_cast<int>(i),
                       .step = step.step,
                       .begin = step.times->begin[i] + step.shift,
                       .end = step.times->end[i] + step.shift});
    }
  }
  return steps;
}

Simulated simulate_explicitly(const spec::Experiment& experiment, Level level,
                              const Watching& watching) {
  return Simulation(experiment, level, watching).run();
}

Simulated simulate(const spec::Experiment& experiment, Level level, const Watching& watching) {
  // Streams that have their share at once are what the other modes are about.
  if (level != Level::Flow || (!watching.at_once && !are_many(experiment))) {
    return simulate_explicitly(experiment, level, watching);
  }
  ClosedForm closed = in_closed_form(experiment);
  if (closed.found) return std::move(*closed.found);
  ClosedForm at_once = found_at_once(experiment, watching.goes_on);
  if (at_once.found) {
    at_once.found->reason = std::move(closed.reason);
    return std::move(*at_once.found);
  }
  const std::string reason = because(closed.reason, at_once.reason);
  require_an_end(experiment, reason);
  Simulated made = simulate_explicitly(experiment, level, watching);
  made.reason = reason;
  return made;
}

}  // namespace tw::sim
