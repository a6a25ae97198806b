// SPDX-License-Identifier: Apache-2.0
// What a flow is for. Gradient: it takes part in the recurring exchange. Acknowledgement: the way
// back of a flow with data, which carries next to nothing itself. Tiny: hardly any payload.
// Cross: cross traffic, where it is known which flows that is. Control: the rest.

#pragma once

#include "trainwire/diagnose/analysis.h"

#include <cstddef>
#include <vector>

namespace tw::diagnose {

/// In the order of Traffic::flows; `gradient` are numbers of flows.
std::vector<FlowClass> classify(const gather::Captured& traffic,
                                const std::vector<std::size_t>& gradient);

}  // namespace tw::diagnose
