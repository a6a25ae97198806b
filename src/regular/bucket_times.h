// SPDX-License-Identifier: Apache-2.0
// When a rank has computed what an exchange needs.

#pragma once

#include "trainwire/workload/compute_clock.h"
#include "trainwire/workload/training.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tw::regular {

/// When a worker's bucket may be exchanged, as its step's clock has it: where exchanges do not
/// overlap with computing, all have to be filled. Of the bucket behind the last one: when computing
/// has ended.
inline Duration computed(const workload::Training& training, const workload::ComputeClock& clock,
                         std::size_t bucket) {
  std::int64_t ns = clock.forward_end_ns();
  const std::size_t count = training.buckets.size();
  for (std::size_t b = 0; b < count && (b <= bucket || !training.overlap); ++b) {
    ns = std::max(ns, clock.ready_ns(training.buckets[b].ready));
  }
  if (count == 0) ns = std::max(ns, clock.ready_ns(training.compute.backward));
  return Duration(ns);
}

}  // namespace tw::regular
