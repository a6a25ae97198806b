// SPDX-License-Identifier: Apache-2.0
// What the devices of machines have to do so that their network is like a plan: --shape.
//
// Limits: a host has one link, and its two directions are all that can be shaped there: a star.

#pragma once

#include "trainwire/fleet/shape.h"
#include "trainwire/network/plan.h"

#include <vector>

namespace tw::lab {

/// For each host. Throws SpecError for a plan with links between switches.
std::vector<fleet::DeviceShape> shapes_of(const network::NetPlan& plan);

}  // namespace tw::lab
