// SPDX-License-Identifier: Apache-2.0
// Round trips, and how long to wait for one: RFC 6298 with Linux's floor, which is under the
// variation and not under the whole, and its memory of the largest deviation within a round trip.

#pragma once

#include "trainwire/netsim/time.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace tw::netsim {

class RoundTrip {
 public:
  explicit RoundTrip(Time least_rto) : least_(least_rto) {}

  void take(Time sample) {
    least_seen_ = std::min(least_seen_, sample);
    if (smoothed_ == 0) {
      smoothed_ = sample;
      deviation_ = sample / 2;
      return;
    }
    deviation_ += (std::abs(sample - smoothed_) - deviation_) / 4;
    smoothed_ += (sample - smoothed_) / 8;
  }

  bool known() const { return smoothed_ > 0; }
  Time smoothed() const { return smoothed_; }
  Time least() const { return least_seen_; }  ///< kNever before the first
  Time rto() const {
    if (!known()) return kFirst;
    return std::min(kMost, smoothed_ + std::max(least_, 4 * deviation_));
  }

 private:
  static constexpr Time kFirst = 1000 * kMillisecond;
  static constexpr Time kMost = 120'000 * kMillisecond;

  Time least_;
  Time smoothed_ = 0;
  Time deviation_ = 0;
  Time least_seen_ = kNever;
};

}  // namespace tw::netsim
