// SPDX-License-Identifier: Apache-2.0
// From one clock's times to another's: an offset, and a rate that differs by a few parts in a
// million.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tw::flow {

/// Times outside the years 1896 to 2116 are moved to these ends, so that differences of any two
/// times fit 64 bits.
inline constexpr std::int64_t kEarliestNs = -(std::int64_t{1} << 61);
inline constexpr std::int64_t kLatestNs = std::int64_t{1} << 62;

inline std::int64_t sane_time(std::int64_t time_ns) {
  return std::clamp(time_ns, kEarliestNs, kLatestNs);
}

struct TimeMap {
  std::int64_t offset_ns = 0;  ///< the clock's lead at `origin_ns`
  double drift = 0;            ///< seconds that it gains each second
  std::int64_t origin_ns = 0;

  std::int64_t operator()(std::int64_t time_ns) const {
    __extension__ using Wide = __int128;
    const double gained = drift * static_cast<double>(time_ns - origin_ns);
    const Wide moved = Wide{time_ns} - offset_ns - std::llround(gained);
    return static_cast<std::int64_t>(std::clamp<Wide>(moved, kEarliestNs, kLatestNs));
  }
};

}  // namespace tw::flow
