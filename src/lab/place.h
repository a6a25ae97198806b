// SPDX-License-Identifier: Apache-2.0
// Where ranks run, and who looks on.

#pragma once

#include "trainwire/fleet/launch.h"
#include "trainwire/record/run.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tw::lab {

/// The engines of runs on machines.
inline constexpr const char* kHosts = "hosts";
inline constexpr const char* kShapedHosts = "shaped hosts";

/// Where ranks run, and how much is asked of that place.
struct RunPlace {
  bool loopback = false;  ///< nothing is shaped or captured
  /// Hosts are machines, captured but not shaped unless `shapes`; nothing: they are emulated here.
  std::optional<fleet::Launch> launch = {};
  bool shapes = false;  ///< the machines' devices, as the experiment asks, for the time of the run
  bool checks_network = true;
  bool accepts_network = false;  ///< goes on although the network is not what was asked for
  bool keeps_captures = false;   ///< after their analysis
  bool logs_transfers = false;   ///< every one, into transfers.csv
};

/// How far the first job is.
struct RunProgress {
  std::int64_t steps_done = 0;  ///< warm-up included
  std::int64_t steps = 0;
  double busiest_bps = 0;  ///< what the link that carries most carries now; 0 when nobody counts
};

/// Everything in it may be empty.
struct Observer {
  std::function<void(const std::string&)> tell = {};      ///< what is being done, a few words
  std::function<void(const RunProgress&)> progress = {};  ///< often, while ranks work
  std::function<bool()> stop = {};                        ///< asked often
  std::function<void(record::Run&)> judge = {};  ///< may add to a whole record before it is kept
};

}  // namespace tw::lab
