// SPDX-License-Identifier: Apache-2.0
// One run of a program on an emulated network: build it, check it, start the ranks, capture and
// watch while they work, and take everything down again.

#pragma once

#include "trainwire/capture/live.h"
#include "trainwire/fleet/shape.h"
#include "trainwire/lab/launch.h"
#include "trainwire/lab/rank_group.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/os/child.h"
#include "trainwire/os/clock.h"
#include "trainwire/testbed/check.h"
#include "trainwire/testbed/cluster.h"
#include "trainwire/testbed/programs.h"
#include "trainwire/watch/counters.h"
#include "trainwire/watch/record.h"
#include "trainwire/watch/verdict.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::lab {

/// What runs beside the ranks, among them, and is no rank: a daemon that they need. Both may be
/// empty; `begin` may throw Error, and writes what it has started into the ledger.
struct Companion {
  std::function<void(const testbed::Programs& programs, ledger::Ledger& ledger)> begin = {};
  std::function<void(const testbed::Programs& programs)> end = {};
};

struct ConductRequest {
  network::NetPlan plan;
  spec::Engine engine = spec::Engine::Nfqueue;  ///< chosen
  std::vector<LaunchRequest> launches = {};     ///< somebody's programs, by job
  std::vector<RankCommand> commands = {};       ///< behind those: our own
  Companion companion = {};
  /// What is asked while ranks work, besides the timeout and stop.
  RankCare care = {};
  std::string folder;  ///< for outputs, marks and captures
  bool captures = true;
  /// Of the devices of hosts that are machines; empty: as they are.
  std::vector<fleet::DeviceShape> shapes = {};
  int snap_length = 128;
  Duration timeout = std::chrono::minutes(10);
  bool checks_network = true;
  bool accepts_network = false;  ///< goes on although the network is not what was asked for
  std::function<void(const std::string&)> tell = {};  ///< what is being done, a few words
  std::function<bool()> stop = {};                    ///< asked often
  /// After care.attend: may signal ranks and alter links; no cluster on loopback.
  std::function<void(RankGroup& ranks, testbed::Cluster* cluster)> steer = {};
  /// What each port of the plan carries now, in bit/s; called twice a second.
  std::function<void(std::span<const double>)> rates = {};
  /// The processes, each as soon as it was started, in the order of the commands.
  std::function<void(const RankCommand& command, const os::ProcessIdentity& process)> started = {};
};

struct ConductOutcome {
  std::vector<testbed::PathCheck> network = {};
  std::vector<RankOutcome> ranks = {};
  std::vector<capture::LiveResult> captures = {};  ///< by host
  std::vector<watch::LinkCounters> counters = {};  ///< by host: what its device did meanwhile
  /// Of machines, which cannot be asked for both at once: what the device did at least, and
  /// `counters` at most, while packets were captured. Empty where they can.
  std::vector<watch::LinkCounters> least_counters = {};
  watch::WatchRecord watch = {};
  watch::WatchVerdict verdict = {};
  os::Moment started = {};
  os::Moment ended = {};
  bool interrupted = false;
  /// Why the run failed: "rank 2 on host2 exited with code 1", or nothing.
  std::optional<std::string> failure = {};
};

/// Throws SystemError, SpecError, or Error when the network was refused. To be called before this
/// process has threads.
ConductOutcome conduct(const ConductRequest& request);

/// The last lines of a file, at most `most`.
std::vector<std::string> last_lines(const std::string& path, std::size_t most);

}  // namespace tw::lab
