// SPDX-License-Identifier: Apache-2.0
// An experiment's jobs in virtual time on one network: ranks carry out the scripts and schedules
// that `run` executes (play/player.h), messages travel as fluids or packet by packet (level.h).
//
// Everything that happens at one instant is told before rates are found anew. The same experiment
// gives the same result, to the nanosecond.
//
// Limits: those of player.h, flow_network.h, packet_network.h and traffic_source.h.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/medium/packet_network.h"
#include "trainwire/play/player.h"
#include "trainwire/regular/rings.h"
#include "trainwire/sim/cross_traffic.h"
#include "trainwire/sim/faults.h"
#include "trainwire/sim/level.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tw::sim {

/// From the first byte that a rank sends for a step to the last that it sends or receives for it.
struct Exchange {
  Duration begin = {};
  Duration end = {};
};

/// What jobs' gradients took from one host to another.
struct PairSending {
  std::int64_t bytes = 0;
  Duration time = {};   ///< with any of them leaving
  Duration since = {};  ///< of the present ones
  int leaving = 0;

  void begin(std::int64_t more, Duration now) {
    if (leaving++ == 0) since = now;
    bytes += more;
  }
  void end(Duration now) {
    if (--leaving == 0) time += now - since;
  }
};

struct SimulatedJob {
  workload::Training training;
  std::vector<play::Step> steps = {};  ///< of all ranks, in order of time; warm-up is negative
  std::map<std::pair<int, std::int64_t>, Exchange> exchanges = {};  ///< by rank and step
  /// By ranks from and to: all that was sent, and what of it were gradients.
  std::map<std::pair<int, int>, std::int64_t> bytes = {};
  std::map<std::pair<int, int>, std::int64_t> gradients = {};
  bool in_network = false;  ///< switches sum some of that, or copy it: links carry less

  /// In other modes than the explicit one there are, instead of all those: steps of all ranks, and
  /// what each rank sent.
  std::vector<regular::RingStep> rounds = {};
  std::vector<std::int64_t> sent = {};
};

/// Steps of all ranks, however they were found.
std::vector<play::Step> all_steps(const SimulatedJob& job);

/// How an answer was found.
inline constexpr const char* kExplicit = "explicit";       ///< message by message
inline constexpr const char* kClosedForm = "closed form";  ///< regular/answer.h
inline constexpr const char* kAtOnce = "at once";          ///< regular/at_once.h

struct Simulated {
  Level level = Level::Flow;
  std::vector<PlayedFault> faults = {};
  std::vector<SimulatedJob> jobs = {};
  std::vector<medium::PortFigures> ports = {};
  medium::GroupFigures groups = {};
  std::vector<PlayedTraffic> traffic = {};
  std::map<std::pair<int, int>, PairSending> pairs = {};  ///< by hosts; only beside cross traffic
  Duration end = {};
  std::int64_t messages = 0;
  const char* mode = kExplicit;
  std::string reason = {};  ///< why it can be in closed form, or not; empty where nobody asked
};

struct Watching {
  /// Every thousand messages or so, with what virtual time it is; true: go on.
  std::function<bool(Duration now)> goes_on = {};
  /// Packet by packet: what a capture on every host would show.
  medium::PacketNetwork::Seen seen = {};
  /// Flow by flow: streams have their share at once, as closed forms have it.
  bool at_once = false;
};

/// Where messages are many (above 300,000), or streams have their share at once, in closed form, or else at once, if one of these can be;
/// otherwise explicitly. Throws SpecError for what cannot be simulated; Error when a fault ends a job or leaves
/// its ranks waiting; std::logic_error when they wait for each other forever without any. REQUIRES:
/// the experiment is resolved.
Simulated simulate(const spec::Experiment& experiment, Level level = Level::Flow,
                   const Watching& watching = {});
/// The same message by message, also where there is a closed form: what that is checked against.
Simulated simulate_explicitly(const spec::Experiment& experiment, Level level = Level::Flow,
                              const Watching& watching = {});

}  // namespace tw::sim
