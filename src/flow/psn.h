// SPDX-License-Identifier: Apache-2.0
// Packet sequence numbers of RoCEv2: 24 bits, one a packet. Tells repeats from late packets.
//
// Limits: remembers the last 64 numbers; older ones count as repeats. Skipped numbers are no proof
// of loss, for a read request takes as many numbers as its answer has packets.

#pragma once

#include <cstdint>

namespace tw::flow {

class PsnWindow {
 public:
  /// Whether `psn` was seen before.
  bool is_repeat(std::uint32_t psn) {
    constexpr std::uint32_t kHalf = 1 << 23;
    const std::uint32_t ahead = (psn - highest_) & (2 * kHalf - 1);
    if (!started_ || (ahead != 0 && ahead < kHalf)) {
      seen_ = started_ && ahead < 64 ? seen_ << ahead | 1 : 1;
      highest_ = psn;
      started_ = true;
      return false;
    }
    const std::uint32_t behind = (highest_ - psn) & (2 * kHalf - 1);
    if (behind >= 64) return true;
    const bool repeat = (seen_ >> behind & 1) != 0;
    seen_ |= std::uint64_t{1} << behind;
    return repeat;
  }

 private:
  std::uint64_t seen_ = 0;  ///< bit n: highest_ - n
  std::uint32_t highest_ = 0;
  bool started_ = false;
};

}  // namespace tw::flow
