// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/compute_clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::trainer {

ComputeClock::ComputeClock(const ComputeTask& task, std::uint64_t seed, int rank)
    : task_(task), random_(seed, fmt::format("compute of rank {}", rank)) {}

void ComputeClock::begin_step(std::int64_t now_ns) {
  begin_ns_ = now_ns;
  // A step cannot take less than a tenth of its time, however wild the jitter.
  const double drawn = task_.jitter > 0 ? 1 + task_.jitter * random_.normal() : 1;
  stretch_ = task_.factor * std::max(drawn, 0.1);
}

std::int64_t ComputeClock::forward_end_ns() const {
  return begin_ns_ +
         static_cast<std::int64_t>(stretch_ * static_cast<double>(task_.forward.count()));
}

std::int64_t ComputeClock::ready_ns(Duration ready) const {
  return begin_ns_ +
         static_cast<std::int64_t>(stretch_ * static_cast<double>((task_.forward + ready).count()));
}

}  // namespace tw::trainer
