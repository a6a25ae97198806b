// SPDX-License-Identifier: Apache-2.0
// A capture interface's clock ticks as nanoseconds since the epoch, and back.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace tw::capture {

class TimeScale {
 public:
  /// REQUIRES: ticks_per_second >= 1.
  explicit TimeScale(std::int64_t ticks_per_second, std::int64_t offset_seconds = 0);

  std::int64_t ticks_per_second() const { return per_second_; }
  /// Rounded down; clamped to what 64 bits hold (the years 1677 to 2262).
  std::int64_t nanoseconds(std::uint64_t ticks) const {
    if (ticks < fast_end_) [[likely]] {
      return static_cast<std::int64_t>(ticks * fast_factor_) + offset_ns_;
    }
    return wide_nanoseconds(ticks);
  }
  /// Rounded down; clamped to 0 and 2^64 - 1.
  std::uint64_t ticks(std::int64_t nanoseconds) const;

 private:
  std::int64_t wide_nanoseconds(std::uint64_t ticks) const;

  std::int64_t per_second_;
  std::int64_t offset_seconds_;
  // Below fast_end_ ticks, one product and one sum are exact and do not overflow.
  std::uint64_t fast_end_ = 0;
  std::uint64_t fast_factor_ = 0;
  std::int64_t offset_ns_ = 0;
};

/// pcapng's if_tsresol: 10^-code, or 2^-(code - 128). Nothing for a resolution finer than 10^-18 or
/// 2^-62 seconds.
std::optional<std::int64_t> ticks_per_second_of(std::uint8_t code);
/// The code of a power of ten or two; nothing for other numbers.
std::optional<std::uint8_t> resolution_code(std::int64_t ticks_per_second);

}  // namespace tw::capture
