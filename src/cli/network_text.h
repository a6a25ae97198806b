// SPDX-License-Identifier: Apache-2.0
// An emulated network for people and as a document: the plan, and what was measured of it.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/testbed/check.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

/// Hosts, links and queues of the plan.
std::string plan_text(const network::NetPlan& plan, spec::Engine engine);
nlohmann::ordered_json plan_document(const network::NetPlan& plan, spec::Engine engine);

/// Asked for and found, a line for each path, and the problems in sentences.
std::string check_text(const network::NetPlan& plan, const std::vector<testbed::PathCheck>& checks);

/// `links[]{name, direction, requested{...}, effective{...}}`; effective is null where nothing was
/// measured.
nlohmann::ordered_json links_document(const network::NetPlan& plan,
                                      const std::vector<testbed::PathCheck>& checks);
nlohmann::ordered_json paths_document(const network::NetPlan& plan,
                                      const std::vector<testbed::PathCheck>& checks);

/// The path on which a port's rate was measured: the first that it limits, else the first that
/// crosses it; null when none does.
const testbed::PathCheck* check_of(const network::NetPlan& plan, int port,
                                   const std::vector<testbed::PathCheck>& checks);

}  // namespace tw::cli
