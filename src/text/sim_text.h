// SPDX-License-Identifier: Apache-2.0
// What a simulation prints at its end, and what it has cost.

#pragma once

#include "trainwire/record/run.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tw::text {

/// What the simulation took of this machine: in no record, for it differs from time to time.
struct SimEffort {
  std::int64_t messages = 0;  ///< simulated, or answered for in closed form
  double took_s = 0;
};

/// As a run's text, with the effort below the first line.
std::string sim_text(const record::Run& run, const std::string& name, const std::string& folder,
                     const SimEffort& effort);

/// "1000 points flow by flow in 1.2 s", and how many of them an earlier start has left.
std::string sweep_effort_text(const record::Run& sweep, std::size_t simulated, double took_s);

}  // namespace tw::text
