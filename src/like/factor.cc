// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/factor.h"

#include "trainwire/base/error.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/stats/quantile.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::like {
namespace {

/// Of a step: below that nothing but computing shows, and a ratio would be of two errors.
constexpr double kLeastShown = 0.02;
/// More steps than these change no median by much.
constexpr std::int64_t kMostSteps = 60;

spec::Experiment shortened(spec::Experiment experiment) {
  for (spec::Job& job : experiment.jobs) job.steps.value = std::min(*job.steps, kMostSteps);
  return experiment;
}

void set_factor(JobFit& fit) {
  const double simulated = fit.simulated_s - fit.compute_s;
  if (simulated < kLeastShown * fit.simulated_s) return;
  const auto over = [&](double step_s) {
    return std::max(0.0, step_s - fit.compute_s) / simulated;
  };
  fit.factor = over(fit.step_s);
  fit.factor_low = over(fit.step_low_s);
  fit.factor_high = over(fit.step_high_s);
}

}  // namespace

MeasuredStep measured_step(const record::Times& times, double divisor) {
  MeasuredStep step{.median_s = times.median_s / divisor,
                    .low_s = times.ci_low_s / divisor,
                    .high_s = times.ci_high_s / divisor,
                    .noise = stats::variation(times.times_s)};
  step.low_s = std::min(step.low_s, step.median_s);
  step.high_s = std::max(step.high_s, step.median_s);
  return step;
}

void fit_factors(Fitted& fitted, const std::vector<MeasuredStep>& measured) {
  const spec::Experiment experiment = shortened(fitted.experiment);
  const record::Run simulated =
      sim::described(experiment, sim::simulate(experiment), sim::Telling::Summary);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const MeasuredStep& step = measured[i];
    JobFit fit{.name = *experiment.jobs[i].name,
               .step_s = step.median_s,
               .step_low_s = step.low_s,
               .step_high_s = step.high_s,
               .noise = step.noise,
               .compute_s = compute_s(experiment, i)};
    if (!simulated.jobs[i].step) {
      throw DataError(fmt::format("fitting {}: its simulation has no steps", fit.name));
    }
    fit.simulated_s = simulated.jobs[i].step->median_s;
    set_factor(fit);
    fitted.constants.push_back(
        {.name = fmt::format("model factor of {}", fit.name),
         .value = fit.factor,
         .low = fit.factor_low,
         .high = fit.factor_high,
         .from = fmt::format("what a step of {:.4g} ms has beyond computing, over what one of "
                             "{:.4g} ms has that is simulated",
                             1e3 * fit.step_s, 1e3 * fit.simulated_s)});
    fitted.constants.push_back({.name = fmt::format("step noise of {}", fit.name),
                                .value = fit.noise,
                                .low = fit.noise,
                                .high = fit.noise,
                                .from = "standard deviation of steps over their mean"});
    fitted.jobs.push_back(std::move(fit));
  }
}

double step_s(const JobFit& fit, const Simulated& simulated) {
  return simulated.compute_s + fit.factor * std::max(0.0, simulated.step_s - simulated.compute_s);
}

double compute_s(const spec::Experiment& experiment, std::size_t job) {
  const workload::Training training = workload::training_of(experiment, experiment.jobs.at(job));
  double most = 1;
  for (int rank = 0; rank < training.workers(); ++rank) {
    most = std::max(most, training.factor(rank));
  }
  return most * seconds(training.compute.total());
}

}  // namespace tw::like
