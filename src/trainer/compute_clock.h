// SPDX-License-Identifier: Apache-2.0
// Compute as time that passes: forward and backward of a profile, with jitter and stragglers.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/trainer/task.h"

#include <cstdint>

namespace tw::trainer {

class ComputeClock {
 public:
  ComputeClock(const ComputeTask& task, std::uint64_t seed, int rank);

  /// The next step begins now: draws how much longer or shorter it computes.
  void begin_step(std::int64_t now_ns);
  /// Of this step, CLOCK_MONOTONIC.
  std::int64_t forward_end_ns() const;
  /// When a bucket with that `ready` time is filled.
  std::int64_t ready_ns(Duration ready) const;

 private:
  ComputeTask task_;
  Random random_;
  double stretch_ = 1;
  std::int64_t begin_ns_ = 0;
};

}  // namespace tw::trainer
