// SPDX-License-Identifier: Apache-2.0
// What would happen: the steps of an experiment's jobs, with intervals, what they are made of and what
// would change them. The header to read first; `trainwire predict` prints it.

#pragma once

#include "trainwire/forecast/changes.h"
#include "trainwire/forecast/elasticity.h"
#include "trainwire/forecast/interval.h"
#include "trainwire/forecast/parts.h"
#include "trainwire/forecast/step.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tw::forecast {

struct JobForecast {
  std::string name = {};
  std::string strategy = {};
  int ranks = 0;
  StepTime step = {};
  Interval interval = {};
  std::vector<Part> parts = {};
  Binding binding = {};
  std::vector<Elasticity> elasticities = {};
};

/// How much of it.
enum class Telling {
  Whole,  ///< of up to kMostWhole jobs; of more as Brief
  Brief,  ///< steps and intervals: no parts, no elasticities
};

/// Each part of each job is a simulation of all of them.
inline constexpr std::size_t kMostWhole = 4;

/// Throws SpecError for what cannot be predicted. `constants` as in interval.h. REQUIRES: the experiment is
/// resolved; its scale is 1.
std::vector<JobForecast> forecasts(const spec::Experiment& experiment, const Variants& variants,
                                   const Asking& asking = {}, double constants = 0,
                                   Telling telling = Telling::Whole);

}  // namespace tw::forecast
