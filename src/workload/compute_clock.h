// SPDX-License-Identifier: Apache-2.0
// Compute as time that passes: forward and backward of a profile, with jitter and stragglers.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/workload/training.h"

#include <cstdint>

namespace tw::workload {

class ComputeClock {
 public:
  ComputeClock(const Training& training, int rank);

  /// The next step begins now: draws how much longer or shorter it computes.
  void begin_step(std::int64_t now_ns);
  /// The step stood still for so long.
  void pause(std::int64_t ns) { begin_ns_ += ns; }
  /// Of this step, on the clock that it began by.
  std::int64_t forward_end_ns() const { return forward_ns(forward_); }
  /// When so much of forward is done.
  std::int64_t forward_ns(Duration part) const;
  /// When a bucket with that `ready` time is filled.
  std::int64_t ready_ns(Duration ready) const;

 private:
  Duration forward_;
  double jitter_;
  double factor_;
  Random random_;
  double stretch_ = 1;
  std::int64_t begin_ns_ = 0;
};

}  // namespace tw::workload
