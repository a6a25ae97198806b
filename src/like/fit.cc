// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/like/captured.h"
#include "trainwire/like/computing.h"
#include "trainwire/like/factor.h"
#include "trainwire/like/like.h"
#include "trainwire/like/network.h"
#include "trainwire/like/phases.h"
#include "trainwire/like/told.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::like {
namespace {

/// Why nothing can be fitted to the record, whatever it is of.
void require_fit(const record::Run& run, const Options& options, Fitted& fitted) {
  if (run.points) {
    throw DataError(fmt::format(
        "a sweep of {} points is many runs, and a fit is of one: name the folder of a point{}",
        run.points->size(),
        run.points->empty() ? "" : fmt::format(", such as {}", run.points->front().folder)));
  }
  const auto failed = std::find_if(run.checks.begin(), run.checks.end(),
                                   [](const record::Check& check) { return !check.ok; });
  if (failed == run.checks.end()) return;
  const std::string sentence =
      fmt::format("check \"{}\" of the run failed ({})", failed->name, failed->text);
  if (!options.in_spite_of_checks) {
    throw DataError(sentence + ": what was measured is not what the experiment says; run it again");
  }
  fitted.cannot.push_back(sentence + ": what is said of it holds for that machine alone");
}

/// Without its scales: in the cluster's own sizes and times, as simulations are.
spec::Experiment at_full_size(spec::Experiment experiment) {
  experiment.run.scale.value = 1;
  experiment.run.slow_motion.value = 1;
  return experiment;
}

std::map<int, std::vector<Computed>> at_full_speed(std::map<int, std::vector<Computed>> ranks,
                                                   double slow_motion) {
  for (auto& [rank, steps] : ranks) {
    for (Computed& step : steps) step.s /= slow_motion;
  }
  return ranks;
}

std::vector<MeasuredStep> measured_steps(const record::Run& run, const spec::Experiment& asked,
                                         double slow_motion) {
  std::vector<MeasuredStep> steps;
  for (const spec::Job& job : asked.jobs) {
    const auto found = std::find_if(run.jobs.begin(), run.jobs.end(), [&](const record::Job& one) {
      return one.name == *job.name && one.step && one.step->median_s > 0;
    });
    if (found == run.jobs.end()) {
      throw DataError(fmt::format(
          "{} has no finished steps in the record: there is nothing to fit; run it again, to its "
          "end",
          *job.name));
    }
    steps.push_back(measured_step(*found->step, slow_motion));
  }
  return steps;
}

/// Of `run` and `sim`: the experiment is known, and ranks told their steps.
void fit_logged(Fitted& fitted, const record::Run& run, const std::string& folder) {
  const spec::Experiment asked = asked_experiment(run);
  if (run.engine == "loopback") {
    throw DataError(
        "a run on the loopback has no network: its steps say nothing about one; run it without "
        "--loopback");
  }
  const double slow_motion = *asked.run.slow_motion;
  const std::vector<MeasuredStep> steps = measured_steps(run, asked, slow_motion);
  fitted.experiment = at_full_size(asked);
  for (int host = 0; host < *asked.network.hosts; ++host) {
    fitted.hosts.push_back(spec::host_name(host));
  }
  auto computed = folder.empty() ? std::map<std::string, std::map<int, std::vector<Computed>>>()
                                 : computed_in(folder);
  for (std::size_t job = 0; job < asked.jobs.size(); ++job) {
    fit_computing(fitted, job, at_full_speed(computed[*asked.jobs[job].name], slow_motion));
  }
  tell_network(fitted, run, folder);
  fit_factors(fitted, steps);
}

}  // namespace

Fitted fit(const record::Run& run, const std::string& folder, const Options& options) {
  Fitted fitted{.level = options.level};
  require_fit(run, options, fitted);
  if (run.experiment && !run.jobs.empty()) {
    fit_logged(fitted, run, folder);
  } else if (is_told(run)) {
    fit_told(fitted, run);
  } else {
    fit_captured(fitted, run, folder);
  }
  return fitted;
}

}  // namespace tw::like
