// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/in_time.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/predict/plan.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::command {
namespace {

constexpr double kLongest = 9e9;  ///< that can be told

/// 0 where no bound holds: asynchronous workers do not wait for the slowest.
Duration least_step(const spec::Experiment& experiment, const spec::Job& job,
                    const lab::RunPlace& place) {
  const workload::Training training = workload::training_of(experiment, job);
  if (training.asynchronous()) return {};
  const Duration step =
      place.loopback ? training.compute.total() : predict::plan(experiment, job).iteration_bound;
  return from_seconds(seconds(step) * *experiment.run.slow_motion);
}

}  // namespace

Duration least_time(const spec::Experiment& experiment, const lab::RunPlace& place) {
  double longest = 0;
  for (const spec::Job& job : experiment.jobs) {
    const auto steps = static_cast<double>(*job.steps + *job.warmup);
    longest = std::max(longest, steps * seconds(least_step(experiment, job, place)));
  }
  return from_seconds(std::min(longest, kLongest));
}

void require_in_time(const spec::Experiment& experiment, const lab::RunPlace& place) {
  for (const spec::Job& job : experiment.jobs) {
    const double step = seconds(least_step(experiment, job, place));
    const double all = step * static_cast<double>(*job.steps);
    if (all <= seconds(*experiment.run.timeout)) continue;
    throw SpecError(
        fmt::format("{}: {} steps of at least {} take {}, and run.timeout ends the run after {}; "
                    "run fewer with "
                    "--steps 20, or raise it with --set run.timeout={:.0f}s",
                    printable(*job.name), *job.steps, readable(from_seconds(step)),
                    readable(from_seconds(std::min(all, kLongest))),
                    readable(*experiment.run.timeout), 1.5 * all));
  }
}

}  // namespace tw::command
