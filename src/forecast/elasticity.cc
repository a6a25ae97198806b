// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/elasticity.h"

#include "trainwire/base/error.h"
#include "trainwire/workload/training.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tw::forecast {
namespace {

constexpr double kChange = 1.1;

double log_step(const spec::Experiment& experiment, std::size_t job, const Asking& asking) {
  return std::log(step_times(experiment, asking)[job].median_s);
}

template <typename Change>
double slope(const spec::Experiment& experiment, std::size_t job, const Asking& asking,
             const Change& change) {
  const double more = log_step(change(experiment, kChange), job, asking);
  const double less = log_step(change(experiment, 1 / kChange), job, asking);
  return (more - less) / (2 * std::log(kChange));
}

spec::Experiment with_compute(spec::Experiment experiment, double factor) {
  for (spec::Job& job : experiment.jobs) job.time_factor *= factor;
  return experiment;
}

std::optional<double> slope_of_ranks(const spec::Experiment& experiment, const Variants& variants,
                                     const Asking& asking) {
  const int ranks = *experiment.jobs.front().ranks;
  const int more = std::max(ranks + 1, static_cast<int>(kChange * ranks));
  try {
    const spec::Experiment larger = variants(settings_for_ranks(experiment, more));
    return (log_step(larger, 0, asking) - log_step(experiment, 0, asking)) /
           std::log(static_cast<double>(*larger.jobs.front().ranks) / ranks);
  } catch (const SpecError&) {  // it cannot be laid out for that many
    return {};
  }
}

}  // namespace

std::vector<Elasticity> elasticities(const spec::Experiment& experiment, std::size_t job,
                                     const Variants& variants, const Asking& asking) {
  std::vector<Elasticity> found;
  found.push_back({"bandwidth", slope(experiment, job, asking, with_rates)});
  found.push_back({"delay", slope(experiment, job, asking, with_delays)});
  if (is_lossy(experiment.network)) {
    found.push_back({"loss", slope(experiment, job, asking, with_loss)});
  }
  const workload::Training training = workload::training_of(experiment, experiment.jobs[job]);
  if (training.compute.total() > Duration::zero()) {
    found.push_back({"compute", slope(experiment, job, asking, with_compute)});
  }
  if (experiment.jobs.size() == 1 && variants) {
    if (const auto ranks = slope_of_ranks(experiment, variants, asking)) {
      found.push_back({"ranks", *ranks});
    }
  }
  return found;
}

}  // namespace tw::forecast
