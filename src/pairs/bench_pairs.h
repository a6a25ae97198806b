// SPDX-License-Identifier: Apache-2.0
// `bench`: what it can be told, and its part that measures all pairs of hosts.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/run_options.h"
#include "trainwire/lab/conduct.h"

#include <memory>
#include <string>

namespace tw::pairs {

struct BenchOptions {
  std::string what;
  std::shared_ptr<command::ExperimentFile> experiment;
  command::PlaceOptions place;
  std::string sizes = "64KiB,1MiB,16MiB,100MB";
  std::string transports;  ///< to compare; empty: the experiment's
  std::string time = "200ms";
  int repeats = 0;
  bool json = false;

  /// Where the machine can be the limit instead of the network.
  bool emulated() const { return !place.place().loopback && !place.place().launch; }
};

/// What held a measurement up besides the network; a line for each reason, none when nothing did.
std::string machine_text(const watch::WatchVerdict& verdict);

/// Returns the exit code. Throws Error.
int bench_pairs(const BenchOptions& options, command::Streams streams);

}  // namespace tw::pairs
