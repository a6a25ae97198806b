// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/forecast.h"

#include <cstddef>

namespace tw::forecast {

std::vector<JobForecast> forecasts(const spec::Experiment& experiment, const Variants& variants,
                                   const Asking& asking, double constants, Telling telling) {
  const std::vector<StepTime> steps = step_times(experiment, asking);
  std::vector<JobForecast> made;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const spec::Job& job = experiment.jobs[i];
    JobForecast each{
        .name = *job.name, .strategy = *job.strategy, .ranks = *job.ranks, .step = steps[i]};
    each.interval = interval_of(experiment, each.step, constants);
    if (telling == Telling::Whole) {
      each.parts = parts_of(experiment, i, each.step, asking);
      each.binding = binding_of(experiment, i, each.parts);
      each.elasticities = elasticities(experiment, i, variants, asking);
    }
    made.push_back(std::move(each));
  }
  return made;
}

}  // namespace tw::forecast
