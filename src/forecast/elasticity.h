// SPDX-License-Identifier: Apache-2.0
// By how many per cent a step becomes longer when something becomes 1 % more.
//
// The slope here, from a change of a tenth to either side (of ranks: upwards); further away it is another. Formula and flows are
// smooth. Packets are not: a step hangs on who is dropped at a full queue, a little more of anything changes that, and so do seeds. There the slope is that of a line through four steps,
// and how the steps of all lines scatter around them is told as its error. A slope below its error says nothing.

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
  double error = 0;     ///< half of its 90 % interval; 0 where steps do not scatter
};

/// Loss only where there is some, compute only where ranks compute, ranks only where `variants` may vary them.
std::vector<Elasticity> elasticities(const spec::Experiment& experiment, std::size_t job,
                                     const Variants& variants, const Asking& asking = {});

}  // namespace tw::forecast
