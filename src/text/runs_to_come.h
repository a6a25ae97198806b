// SPDX-License-Identifier: Apache-2.0
// What `run --dry-run` tells: which runs are to come, and what they take at least.

#pragma once

#include "trainwire/base/units.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::text {

struct RunToCome {
  std::string folder;
  std::vector<std::string> settings = {};  ///< of a sweep's point
  std::int64_t steps = 0;                  ///< of the first job
  Duration least = {};
  bool finished = false;  ///< is there already, and not run again
};

struct RunsToCome {
  std::vector<RunToCome> points = {};
  std::optional<double> until = {};  ///< run.repeat_until: the last repetitions may not be needed
};

/// At most 40 lines.
std::string to_text(const RunsToCome& runs);
nlohmann::ordered_json to_json(const RunsToCome& runs);

}  // namespace tw::text
