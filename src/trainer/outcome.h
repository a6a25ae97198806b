// SPDX-License-Identifier: Apache-2.0
// Whether an exchange of made-up gradients (gradients.h) has ended as its schedule promises.

#pragma once

#include "trainwire/collective/schedule.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <span>

namespace tw::trainer {

struct Outcome {
  std::int64_t checked = 0;  ///< elements; those that the goal leaves open are not
  std::int64_t wrong = 0;
};

/// What `rank` holds after an exchange of one bucket, whose first element is number `first`.
Outcome outcome_of(const collective::Schedule& schedule, int rank, std::span<const float> bucket,
                   std::int64_t first, std::int64_t step);

/// What it holds after a step, in all buckets.
Outcome outcome_of_step(const workload::Training& training, const collective::Schedule& schedule,
                        int rank, std::span<const float> payload, std::int64_t step);

/// What an asynchronous server of that rank holds in the end: everything that any worker ever pushed
/// is in its shards exactly once.
Outcome outcome_of_shards(const workload::Training& training, int rank,
                          std::span<const float> payload);

}  // namespace tw::trainer
