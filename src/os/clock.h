// SPDX-License-Identifier: Apache-2.0
// The clocks that everything here is timed by.

#pragma once

#include <cstdint>

namespace tw::os {

/// CLOCK_REALTIME: what captures and logs are stamped with.
std::int64_t real_time_ns();

/// CLOCK_MONOTONIC: what is waited by.
std::int64_t monotonic_ns();

/// One moment by both.
struct Moment {
  std::int64_t real_ns = 0;
  std::int64_t monotonic_ns = 0;
};
Moment moment();
/// By how much the machine's clock was set in between: what CLOCK_REALTIME went further than the other.
std::int64_t clock_step_ns(const Moment& from, const Moment& to);

/// Processor time of this process, all its threads.
std::int64_t process_cpu_ns();

/// Returns at once when that time is over. Sleeps on through signals.
void sleep_until(std::int64_t monotonic_ns);

}  // namespace tw::os
