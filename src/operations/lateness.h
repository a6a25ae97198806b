// SPDX-License-Identifier: Apache-2.0
// Who comes last to collectives, by how much through its own fault, and in how many of the steps.

#pragma once

#include "trainwire/operations/arrivals.h"
#include "trainwire/operations/exposed.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tw::operations {

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
