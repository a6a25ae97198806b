// SPDX-License-Identifier: Apache-2.0
// By how many per cent a step becomes longer when something becomes 1 % more.
//
// Limits: the slope here, from a change of a tenth to either side (of ranks: upwards); further away it is another. Where chance has a
// part, slopes below its noise say nothing.

#pragma once

#include "trainwire/forecast/changes.h"
#include "trainwire/forecast/step.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tw::forecast {

struct Elasticity {
  std::string of = {};  ///< "bandwidth", "delay", "loss", "compute", "ranks"
  double percent = 0;   ///< of the step, for 1 % more
};

/// Loss only where there is some, compute only where ranks compute, ranks only where `variants` may vary them.
std::vector<Elasticity> elasticities(const spec::Experiment& experiment, std::size_t job,
                                     const Variants& variants, const Asking& asking = {});

}  // namespace tw::forecast
