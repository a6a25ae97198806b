// SPDX-License-Identifier: Apache-2.0
// An emulated network for people and as a document: the plan, and what was measured of it.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/testbed/check.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tw::text {

/// Hosts, links and queues of the plan.
std::string plan_text(const network::NetPlan& plan, spec::Engine engine);
/// `network` has links[]{name, direction, requested{...}, effective{...}}, effective being null
/// where nothing was measured, and paths[].
nlohmann::ordered_json plan_document(const network::NetPlan& plan, spec::Engine engine,
                                     const std::vector<testbed::PathCheck>& checks = {});

/// Asked for and found, a line for each path, and the problems in sentences.
std::string check_text(const network::NetPlan& plan, const std::vector<testbed::PathCheck>& checks);

}  // namespace tw::text
