// SPDX-License-Identifier: Apache-2.0
// Whether a stretch of time was limited by the emulated network, as it should be, or by this
// machine.
//
// The thresholds were found with ring all-reduces of four workers on two processors, 100 Mbit/s to
// 10 Gbit/s a link: with a wait of up to 0.15 the exchange reached 95 % of what the links allow,
// above 0.30 it never reached more than 93 %; runs with 9 to 15 % steal read 73 to 93 % where clean
// ones gave 97.

#pragma once

#include "trainwire/base/units.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::watch {

/// Shares of time, 0 to 1.
struct Load {
  double wait = 0;   ///< the largest of a followed process: ready to run, but not running
  double busy = 0;   ///< of the machine, idle-class spinners left out
  double steal = 0;  ///< of the machine
  bool operator==(const Load&) const = default;
};

/// How late the delay engine released packets.
struct ReleaseLateness {
  Duration p99;
  Duration delay;         ///< the shortest that was asked for
  Duration longest = {};  ///< of any packet
};

struct Circumstances {
  /// Workers also compute: then a busy machine is no sign by itself, their wait tells.
  bool computes = false;
  std::optional<ReleaseLateness> lateness = {};
};

/// From good to bad.
enum class WatchLevel {
  Fine,
  Caution,   ///< the machine may have shown in the result
  CpuBound,  ///< the machine, not the network, was the limit
  Void,      ///< the machine was taken away: repeat
};

struct WatchVerdict {
  WatchLevel level = WatchLevel::Fine;    ///< the worst of all reasons
  std::vector<std::string> reasons = {};  ///< one sentence each, with number and threshold
  bool operator==(const WatchVerdict&) const = default;
};

WatchVerdict verdict(const Load& load, const Circumstances& circumstances = {});

/// "fine", "caution", "CPU-bound", "void".
std::string level_name(WatchLevel level);

}  // namespace tw::watch
