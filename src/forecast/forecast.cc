// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/forecast.h"

#include "trainwire/base/parallel.h"

#include <cstddef>

namespace tw::forecast {
namespace {

/// What a step is made of, and what changes it, takes about so many more simulations.
constexpr double kAround = 20;

/// So that all that is compared is found in one way: packets only where all of it has few.
Asking around_of(const spec::Experiment& experiment, const Asking& asking, Method method) {
  Asking around = asking;
  around.most_packets /= kAround;
  around.only_formula = false;  // without rates, say, it may not hold
  if (asking.level) return around;
  around.alike = method;
  if (method == Method::Packet) around.alike = step_times(experiment, around).front().method;
  return around;
}

}  // namespace

std::vector<JobForecast> forecasts(const spec::Experiment& experiment, const Variants& variants,
                                   const Asking& asking, double constants, Telling telling) {
  const std::vector<StepTime> steps = step_times(experiment, asking);
  const bool is_whole = telling == Telling::Whole && steps.size() <= kMostWhole;
  const Asking around =
      is_whole ? around_of(experiment, asking, steps.front().method) : Asking(asking);
  std::vector<JobForecast> made(steps.size());
  in_parallel(steps.size(), [&](std::size_t i) {
    const spec::Job& job = experiment.jobs[i];
    JobForecast& each = made[i];
    each = {.name = *job.name, .strategy = *job.strategy, .ranks = *job.ranks, .step = steps[i]};
    each.interval = interval_of(experiment, each.step, constants);
    if (!is_whole) return;
    each.parts = parts_of(experiment, i, each.step, around);
    each.binding = binding_of(experiment, i, each.parts);
    each.elasticities = elasticities(experiment, i, variants, around);
  });
  return made;
}

}  // namespace tw::forecast
