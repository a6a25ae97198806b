// SPDX-License-Identifier: Apache-2.0
// Virtual time in whole picoseconds: a frame of 1,514 bytes takes 121,120 of them at 100 Gbit/s, so
// nothing is rounded that would add up, and 2^63 of them are a hundred days.

#pragma once

#include "trainwire/base/units.h"

#include <cstdint>
#include <limits>

namespace tw::netsim {

using Time = std::int64_t;

inline constexpr Time kNever = std::numeric_limits<Time>::max();
inline constexpr Time kMillisecond = 1'000'000'000;

constexpr Time time_of(Duration duration) { return duration.count() * 1000; }
/// The first nanosecond that is not before.
constexpr Duration duration_of(Time time) { return Duration((time + 999) / 1000); }
constexpr double seconds(Time time) { return static_cast<double>(time) * 1e-12; }
constexpr Time time_of_seconds(double seconds) { return static_cast<Time>(seconds * 1e12); }

}  // namespace tw::netsim
