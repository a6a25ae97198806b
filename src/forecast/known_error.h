// SPDX-License-Identifier: Apache-2.0
// What a simulation alone does not say: how wrong simulations of such jobs were, beside runs with real packets (errors.h).

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/sim/level.h"
#include "trainwire/spec/experiment.h"

#include <optional>

namespace tw::forecast {

/// The check `level`, of the job that is least sure; nothing where nine of ten runs were within 15 % of
/// what the network takes of a step. REQUIRES: the experiment is resolved.
std::optional<record::Check> known_error(const spec::Experiment& experiment, sim::Level level);

}  // namespace tw::forecast
