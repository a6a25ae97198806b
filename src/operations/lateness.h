// SPDX-License-Identifier: Apache-2.0
// Who comes last to collectives, by how much through its own fault, and in how many of the steps.
//
// Exposed is what of ranks' time in collectives their computing does not hide. All ranks leave a step together, so that the one that is
// exposed least is the one that computed, read or slept longest: others are exposed longer by just what they wait for it.
//
// Arrivals alone tell less where collectives run beside computing: a rank that is late by 40 ms comes so much later to the
// first of three collectives, and later to the others too, to which ranks come that computed on while they waited.

#pragma once

#include "trainwire/operations/arrivals.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tw::operations {

/// Seconds by step, the first of what is before all steps; by rank.
using Exposed = std::map<int, std::vector<double>>;

/// Sorted, and without overlaps.
std::vector<Span> joined(std::vector<Span> spans);
std::int64_t length_of(const std::vector<Span>& spans);
/// What of `spans` is in no `other`; each list is in order and disjoint.
std::vector<Span> without(const std::vector<Span>& spans, const std::vector<Span>& other);

/// `starts_ns`: of steps, in order; may be empty.
std::vector<double> by_step(const std::vector<Span>& spans,
                            const std::vector<std::int64_t>& starts_ns);

/// By how much the other ranks are exposed longer than `rank`, in the middle, by step; under 0 where it is shorter.
/// REQUIRES: `rank` is one of them.
std::vector<double> exposed_after_s(const Exposed& exposed, int rank);

/// By how much ranks are exposed longer than the least one of each step: mean over ranks, of all the time.
double exposed_above_least_s(const Exposed& exposed);

/// The rank for which others wait.
struct Late {
  int rank = 0;
  double delay_s =
      0;  ///< after the median of the others, of a step; without what it had waited for others
  double share = 0;              ///< of all lateness
  std::uint64_t times = 0;       ///< collectives in which it was last
  std::uint64_t steps_late = 0;  ///< of those whose starts are told; 0: not told
  double when_late_s = 0;        ///< in these steps
};

/// Ranks by their own lateness over all the time, the latest first: no more of it than others are exposed for longer.
/// `starts_ns`: of steps, in order; may be empty.
std::vector<Late> lateness(const std::vector<Arrival>& arrivals,
                           const std::vector<std::int64_t>& starts_ns, const Exposed& exposed);

}  // namespace tw::operations
