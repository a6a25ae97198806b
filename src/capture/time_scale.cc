// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/time_scale.h"

#include "trainwire/base/error.h"

#include <algorithm>

namespace tw::capture {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();

/// Quotient rounded down. REQUIRES: divisor > 0.
Wide floor_quotient(Wide dividend, Wide divisor) {
  const Wide quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

TimeScale::TimeScale(std::int64_t ticks_per_second, std::int64_t offset_seconds)
    : per_second_(ticks_per_second), offset_seconds_(offset_seconds) {
  check(ticks_per_second >= 1, "a clock ticks");
  const Wide offset = static_cast<Wide>(offset_seconds) * kSecond;
  // Half of the range for each summand: the sum cannot overflow.
  const bool fast = kSecond % per_second_ == 0 && offset < kMost / 2 && offset > kLeast / 2;
  if (!fast) return;
  fast_factor_ = static_cast<std::uint64_t>(kSecond / per_second_);
  fast_end_ = static_cast<std::uint64_t>(kMost / 2) / fast_factor_;
  offset_ns_ = static_cast<std::int64_t>(offset);
}

std::int64_t TimeScale::wide_nanoseconds(std::uint64_t ticks) const {
  const Wide since_offset = floor_quotient(static_cast<Wide>(ticks) * kSecond, per_second_);
  const Wide time = since_offset + static_cast<Wide>(offset_seconds_) * kSecond;
  return static_cast<std::int64_t>(std::clamp<Wide>(time, kLeast, kMost));
}

std::uint64_t TimeScale::ticks(std::int64_t nanoseconds) const {
  const Wide since_offset = nanoseconds - static_cast<Wide>(offset_seconds_) * kSecond;
  const Wide ticks = floor_quotient(since_offset * per_second_, kSecond);
  constexpr auto kMostTicks = std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::clamp<Wide>(ticks, 0, kMostTicks));
}

std::optional<std::int64_t> ticks_per_second_of(std::uint8_t code) {
  const bool binary = (code & 0x80) != 0;
  const int exponent = code & 0x7f;
  if (exponent > (binary ? 62 : 18)) return std::nullopt;
  if (binary) return std::int64_t{1} << exponent;
  std::int64_t ticks = 1;
  for (int i = 0; i < exponent; ++i) ticks *= 10;
  return ticks;
}

std::optional<std::uint8_t> resolution_code(std::int64_t ticks_per_second) {
  for (unsigned code = 0; code < 256; ++code) {
    const auto candidate = static_cast<std::uint8_t>(code);
    if (ticks_per_second_of(candidate) == ticks_per_second) return candidate;
  }
  return std::nullopt;
}

}  // namespace tw::capture
