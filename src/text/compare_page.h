// SPDX-License-Identifier: Apache-2.0
// What `compare` finds, for a page of several runs.

#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace tw::text {

/// All but the first folder compared with it: a list of comparisons as `compare --json` has them,
/// or {"run", "problem"} of a folder that cannot be compared. Empty for one folder and for sweeps,
/// whose points are too many to look at so. REQUIRES: folders not empty.
nlohmann::ordered_json page_comparisons(std::span<const std::string> folders);

}  // namespace tw::text
