// SPDX-License-Identifier: Apache-2.0
// Experiments that are answered in closed form (regular/answer.h), or message by message without
// players and streams (regular/at_once.h), with the physics of flow_network.h.

#pragma once

#include "trainwire/sim/simulate.h"
#include "trainwire/spec/experiment.h"

#include <functional>
#include <optional>
#include <string>

namespace tw::sim {

struct ClosedForm {
  std::optional<Simulated> found = {};
  std::string reason = {};  ///< why there is none
};
ClosedForm in_closed_form(const spec::Experiment& experiment);
/// As simulate_explicitly() with Watching::at_once. Stopped by `goes_on`, it has no steps.
ClosedForm found_at_once(const spec::Experiment& experiment,
                         const std::function<bool(Duration now)>& goes_on = {});

}  // namespace tw::sim
