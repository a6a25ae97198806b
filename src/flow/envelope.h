// SPDX-License-Identifier: Apache-2.0
// The arrival envelope of a flow: the most that ever passed in a time, or rather the least time in
// which so many bytes ever passed, for 8 KiB, 16 KiB and so on. Pauses, losses and waiting for
// others make a link carry less for a while, never more, so the envelope shows a link's rate
// wherever it was filled once (network calculus: Le Boudec and Thiran 2001, 10.1007/3-540-45318-0).
//
// Bytes are counted from multiple to multiple of the amount: what is sent at full speed must be
// nearly twice as much to be sure to hold such a stretch, and just as much to hold one at times.
//
// Limits: one flow; payload, repeats included. What a queue, a token bucket or offload lets pass at
// once raises the rates of small amounts.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tw::flow {

class Envelope {
 public:
  static constexpr unsigned kFinest = 13;      ///< 8 KiB, as a power of two
  static constexpr std::size_t kAmounts = 12;  ///< up to 16 MiB

  static std::uint64_t bytes_of(std::size_t amount) {
    return std::uint64_t{1} << (kFinest + amount);
  }

  /// The flow had `before` bytes and has `after` now.
  void pass(std::int64_t time_ns, std::uint64_t before, std::uint64_t after) {
    const std::uint64_t passed = (before ^ after) >> kFinest;
    if (passed != 0) [[unlikely]]
      mark(time_ns, after, static_cast<std::size_t>(std::bit_width(passed)));
  }
  /// As another analysis had it; no more bytes pass.
  static Envelope known(const std::vector<double>& rates_bps);
  /// By amount, of those that passed in whole; in bits of payload a second.
  std::vector<double> rates_bps() const;

 private:
  struct Stretch {
    std::int64_t since_ns = 0;
    std::uint64_t since_bytes = 0;
    double best_bps = 0;
  };
  void mark(std::int64_t time_ns, std::uint64_t bytes, std::size_t amounts);

  std::vector<Stretch> stretches_;  ///< by amount
};

}  // namespace tw::flow
