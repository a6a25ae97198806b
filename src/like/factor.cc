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
constexpr double kRounding = 1e-9;  ///< of a step: steps that differ by less are the same
/// How much of the factor's logarithm is left far from what was measured: the slope of what the
/// model was off in changed runs over what it was in those that they were changed from.
constexpr double kCarriedByFlows = 2.0 / 3;
constexpr double kCarriedByPackets = 0.25;
/// What is far: a change of the exchange by a factor of e to that. Flat at first, so that small
/// changes gain what the model says.
constexpr double kNear = 0.1;
/// Factors beyond these are of something that the model does not have.
constexpr double kLeastFactor = 0.7;
constexpr double kMostFactor = 1.4;
/// More steps than these change no median by much.
constexpr std::int64_t kMostSteps = 60;

spec::Experiment shortened(spec::Experiment experiment) {
  for (spec::Job& job : experiment.jobs) job.steps.value = std::min(*job.steps, kMostSteps);
  return experiment;
}

/// Median step of each job.
std::vector<double> simulated_steps(const spec::Experiment& asked, sim::Level level) {
  const spec::Experiment experiment = shortened(asked);
  const record::Run run =
      sim::described(experiment, sim::simulate(experiment, level), sim::Telling::Summary);
  std::vector<double> steps;
  for (const record::Job& job : run.jobs) {
    if (!job.step) throw DataError(fmt::format("{}: its simulation has no steps", job.name));
    steps.push_back(job.step->median_s);
  }
  return steps;
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
  if (step.noise < kRounding) step.noise = 0;
  step.low_s = std::min(step.low_s, step.median_s);
  step.high_s = std::max(step.high_s, step.median_s);
  return step;
}

void fit_factors(Fitted& fitted, const std::vector<MeasuredStep>& measured) {
  const spec::Experiment& experiment = fitted.experiment;
  const std::vector<double> simulated = simulated_steps(experiment, fitted.level);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const MeasuredStep& step = measured[i];
    JobFit fit{.name = *experiment.jobs[i].name,
               .step_s = step.median_s,
               .step_low_s = step.low_s,
               .step_high_s = step.high_s,
               .noise = step.noise,
               .simulated_s = simulated[i],
               .compute_s = compute_s(experiment, i)};
    fit.carried = fitted.level == sim::Level::Flow ? kCarriedByFlows : kCarriedByPackets;
    set_factor(fit);
    fitted.constants.push_back(
        {.name = fmt::format("model factor of {}", fit.name),
         .value = fit.factor,
         .low = fit.factor_low,
         .high = fit.factor_high,
         .from = fmt::format(
             "what a step of {} has beyond computing, over what one of {} has that is simulated",
             readable(from_seconds(fit.step_s)), readable(from_seconds(fit.simulated_s)))});
    fitted.constants.push_back({.name = fmt::format("step noise of {}", fit.name),
                                .value = fit.noise,
                                .low = fit.noise,
                                .high = fit.noise,
                                .from = "standard deviation of steps over their mean"});
    if (fit.factor < kLeastFactor || fit.factor > kMostFactor) {
      fitted.cannot.push_back(
          fmt::format("beyond computing a step of {} takes {:.2g} times what is simulated: "
                      "something is at work "
                      "that the simulation does not have, and may be another at other rates",
                      fit.name, fit.factor));
    }
    fitted.jobs.push_back(std::move(fit));
  }
}

double step_s(const JobFit& fit, const Simulated& simulated) {
  const double exchange = std::max(0.0, simulated.step_s - simulated.compute_s);
  const double fitted = std::max(0.0, fit.simulated_s - fit.compute_s);
  if (exchange <= 0 || fitted <= 0 || fit.factor <= 0) return simulated.compute_s + exchange;
  const double distance = std::log(exchange / fitted) / kNear;
  const double carried = fit.carried + (1 - fit.carried) * std::exp(-distance * distance / 2);
  return simulated.compute_s + std::pow(fit.factor, carried) * exchange;
}

std::vector<double> steps_s(const Fitted& fitted, const spec::Experiment& changed) {
  check(changed.jobs.size() == fitted.jobs.size(), "a changed experiment has the jobs of the fit");
  std::vector<double> steps = simulated_steps(changed, fitted.level);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i] = step_s(fitted.jobs[i], {.step_s = steps[i], .compute_s = compute_s(changed, i)});
  }
  return steps;
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
