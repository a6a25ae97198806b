// SPDX-License-Identifier: Apache-2.0
// What /proc says about processor time: texts into numbers.

#pragma once

#include "trainwire/base/units.h"

#include <optional>
#include <string_view>

namespace tw::watch {

/// Since boot, summed over all processors.
struct MachineTime {
  Duration busy;   ///< neither idle, nor waiting for a disk, nor taken away
  Duration steal;  ///< taken away by the hypervisor while something wanted to run
  Duration total;
  bool operator==(const MachineTime&) const = default;
};

/// From the text of /proc/stat, whose unit is the clock tick (sysconf's _SC_CLK_TCK). Nothing when
/// it has no line for all processors.
std::optional<MachineTime> parse_machine_time(std::string_view stat, long ticks_per_second);

/// Of one thread, since its start.
struct ThreadTime {
  Duration run;
  Duration wait;  ///< ready to run, but another thread had the processor
  bool operator==(const ThreadTime&) const = default;
};

/// From the text of /proc/PID/task/TID/schedstat. Nothing for other texts.
std::optional<ThreadTime> parse_schedstat(std::string_view schedstat);

}  // namespace tw::watch
