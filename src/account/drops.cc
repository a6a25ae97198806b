// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/drops.h"

#include "trainwire/account/places.h"
#include "trainwire/account/without.h"

#include <algorithm>
#include <cmath>

namespace tw::account {
namespace {

constexpr double kNear = 0.1;  ///< of the measured step

bool loses_otherwise(const spec::Experiment& experiment) {
  return !experiment.traffic.empty() || *experiment.network.link.loss > 0 ||
         lossiest(experiment).has_value();
}

}  // namespace

std::optional<double> lost_to_queues_s(Trials& trials, std::size_t job, double measured_step_s) {
  const spec::Experiment& experiment = trials.experiment();
  if (loses_otherwise(experiment)) return {};
  const auto with = trials.of(experiment, job, Manner::Packets);
  if (!with || std::abs(with->step_s - measured_step_s) > kNear * measured_step_s) return {};
  const auto without = trials.of(without_loss(experiment), job, Manner::Packets);
  if (!without) return {};
  return std::max(0.0, with->step_s - without->step_s);
}

}  // namespace tw::account
