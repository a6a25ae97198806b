// SPDX-License-Identifier: Apache-2.0
// What one rank has to do, complete: it reads no experiment file and asks nobody.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/transport/tcp/hello.h"
#include "trainwire/workload/training.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::trainer {

/// Exchanges of one size, timed together.
struct BenchRow {
  std::int64_t elements = 0;
  int repeats = 1;
  bool operator==(const BenchRow&) const = default;
};

/// Pairs of ranks, one after the other, instead of a training (pair_bench.h).
struct PairBench {
  std::int64_t time_ns = 0;  ///< that a stream is heard, in each direction
  int pings = 1;
  int repeats = 1;  ///< of all rounds
  bool operator==(const PairBench&) const = default;
};

/// A fault that was asked for: the rank gives itself that signal as it begins the step.
struct OwnSignal {
  std::int64_t step = 0;
  int signal = 0;
  int fault = 0;  ///< of the experiment
  bool operator==(const OwnSignal&) const = default;
};

/// What a rank has to know so that its job may outlive others, and itself.
struct Survival {
  bool waits = false;  ///< for a new group when a peer is lost, instead of ending
  int group = 0;       ///< how often the job's group was formed anew
  int identity = 0;    ///< the rank that it was at first
  int identities = 0;  ///< and how many there were; 0: as many as now
  std::optional<std::int64_t> begin = {};  ///< its first step; nothing: the training's
  std::string restore = {};                ///< checkpoint that it begins with; empty: none
  std::int64_t checkpoint_every = 0;       ///< steps; 0: it writes none
  std::string checkpoint_folder = {};
  std::string checkpoint_name = {};
  std::vector<OwnSignal> signals = {};
  std::vector<std::int64_t> told_steps = {};  ///< of which the run wants to hear at once
  bool operator==(const Survival&) const = default;
};

/// How what one rank sends to several travels.
struct Casting {
  bool multicasts = false;  ///< once over each link; otherwise to each by itself
  int job = 0;              ///< tells groups of several jobs apart
  int payload_bytes = 1448;
  int window = 64;
  int ahead = 32;
  Duration round_trip = std::chrono::milliseconds(1);
  bool operator==(const Casting&) const = default;
};

struct Task {
  workload::Training training;
  int rank = 0;
  transport::tcp::Token token = {};
  std::string address;            ///< to listen on and to connect from
  std::string transport = "tcp";  ///< how gradients travel
  std::string carrier = {};       ///< the transport's program; empty: our own sockets
  std::string log;                ///< file for the phases of its steps
  std::string sockets;            ///< file for what TCP says of its connections
  std::string transfers = {};     ///< file for what it moves; empty: none
  bool verify = false;            ///< what comes out of exchanges
  Duration patience = std::chrono::seconds(30);
  int idle_connections = 0;             ///< of each other rank with the first, unused
  std::vector<int> refused_by = {};     ///< ranks to which it tries to connect in vain at first
  std::vector<BenchRow> bench = {};     ///< instead of training
  std::optional<PairBench> pairs = {};  ///< instead of training
  Casting casting = {};
  Survival survival = {};

  std::int64_t first_step() const { return survival.begin.value_or(-training.warmup); }
  bool is_server() const { return training.is_server(rank); }
  bool operator==(const Task&) const = default;
};

nlohmann::json to_json(const Task& task);
/// Of the model only the name travels. Throws DataError when it is none.
Task task_from(const nlohmann::json& document);

}  // namespace tw::trainer
