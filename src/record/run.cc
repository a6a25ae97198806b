// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/run.h"

#include <algorithm>

namespace tw::record {

bool all_ok(const std::vector<Check>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.ok; });
}

const Value* setting(const Run& run, std::string_view key) {
  if (!run.experiment) return nullptr;
  const Value* held = find(*run.experiment, key);
  return held == nullptr ? nullptr : find(*held, "value");
}

}  // namespace tw::record
