// SPDX-License-Identifier: Apache-2.0
// What each rank of a job computed in each step, from steps.csv.
//
// A rank computes when it does not wait for gradients: forward, backward, the optimiser, and what
// lies between them. So it is what a step took less its waiting, whatever ranks logged besides.
//
// Limits: ranks that log no waiting (asynchronous ones, those of a simulation) tell nothing.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tw::like {

/// Of one rank in one counted step.
struct Computed {
  std::int64_t step = 0;
  double s = 0;
};

/// By job and rank; steps in order. Those without waiting are left out. No file, no entries. Throws
/// SystemError when the table is there and cannot be read.
std::map<std::string, std::map<int, std::vector<Computed>>> computed_in(const std::string& folder);

}  // namespace tw::like
