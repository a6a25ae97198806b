// SPDX-License-Identifier: Apache-2.0
// The same job with more ranks: throughput, efficiency, and where more of them do not help.
//
// Every rank keeps its batch (weak scaling) and its kind of host. Efficiency is what a rank that computes alone would take for a step
// over what it takes; throughput counts samples a second of all workers.
//
// Limits: those of step.h; where there is no formula each number of ranks is a simulation, and what takes too long is left out.

#pragma once

#include "trainwire/forecast/changes.h"
#include "trainwire/forecast/interval.h"
#include "trainwire/forecast/step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::forecast {

/// "2..1024", or numbers with commas.
struct Sizes {
  int first = 2;
  int last = 2;
  std::vector<int> listed = {};
};
/// Throws SpecError for anything else, and for fewer than one rank.
Sizes parse_sizes(std::string_view text);
/// Doubling from the first to the last, both included; or the listed ones, in order, each once.
std::vector<int> sizes_of(const Sizes& sizes);

struct ScalePoint {
  int ranks = 0;
  int workers = 0;
  StepTime step = {};
  Interval interval = {};
  double throughput = 0;  ///< samples a second
  double throughput_low = 0;
  double throughput_high = 0;
  double efficiency = 0;
  double efficiency_low = 0;
  double efficiency_high = 0;
  std::string problem = {};  ///< why there is no answer
};

/// A number of ranks with the interval that steps' intervals leave; nothing where there is none in the range.
struct Ranks {
  std::optional<int> value = {};
  std::optional<int> low = {};
  std::optional<int> high = {};
};

struct Scaling {
  std::vector<ScalePoint> points = {};
  Ranks break_even = {};  ///< the fewest that are faster than one rank alone
  Ranks turns = {};       ///< with more than these throughput falls; nothing while it rises
  Ranks half = {};        ///< the most that are at least half as efficient as one alone
};

/// Throws SpecError without compute time: there is nothing to be efficient at.
Scaling scaling(const spec::Experiment& experiment, const Sizes& sizes, const Variants& variants,
                const Asking& asking = {}, double constants = 0);

/// Why efficiency cannot be told; empty when it can.
std::string no_compute(const spec::Experiment& experiment, std::size_t job);

}  // namespace tw::forecast
