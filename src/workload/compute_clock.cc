// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/compute_clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::workload {

ComputeClock::ComputeClock(const Training& training, int rank)
    : forward_(training.compute.forward),
      jitter_(training.compute.jitter),
      factor_(training.factor(rank)),
      random_(training.arrangement.seed, fmt::format("compute of rank {}", rank)) {}

void ComputeClock::begin_step(std::int64_t now_ns) {
  begin_ns_ = now_ns;
  // A step cannot take less than a tenth of its time, however wild the jitter.
  const double drawn = jitter_ > 0 ? 1 + jitter_ * random_.normal() : 1;
  stretch_ = factor_ * std::max(drawn, 0.1);
}

std::int64_t ComputeClock::forward_ns(Duration part) const {
  return begin_ns_ + static_cast<std::int64_t>(stretch_ * static_cast<double>(part.count()));
}

std::int64_t ComputeClock::ready_ns(Duration ready) const {
  return begin_ns_ +
         static_cast<std::int64_t>(stretch_ * static_cast<double>((forward_ + ready).count()));
}

}  // namespace tw::workload
