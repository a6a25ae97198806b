// SPDX-License-Identifier: Apache-2.0
// Experiments that are answered in closed form (regular/answer.h) with the physics of
// flow_network.h, instead of simulating their messages.

#pragma once

#include "trainwire/sim/simulate.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <string>

namespace tw::sim {

struct ClosedForm {
  std::optional<Simulated> found = {};
  std::string reason = {};  ///< why messages have to be simulated where nothing was
};
ClosedForm in_closed_form(const spec::Experiment& experiment);

}  // namespace tw::sim
