// SPDX-License-Identifier: Apache-2.0
// The clocks that everything here is timed by.

#pragma once

#include <cstdint>

namespace tw::os {

/// CLOCK_REALTIME: what captures and logs are stamped with.
std::int64_t real_time_ns();

/// CLOCK_MONOTONIC: what is waited by.
std::int64_t monotonic_ns();

/// Processor time of this process, all its threads.
std::int64_t process_cpu_ns();

/// Returns at once when that time is over. Sleeps on through signals.
void sleep_until(std::int64_t monotonic_ns);

}  // namespace tw::os
