// SPDX-License-Identifier: Apache-2.0
// What one rank has to do, complete: it reads no experiment file and asks nobody.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/transport/tcp/hello.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tw::trainer {

/// One bucket: gradients sent together.
struct Bucket {
  std::int64_t elements = 0;
  Duration ready = {};  ///< after backward began; the last one ends it
  bool operator==(const Bucket&) const = default;
};

/// How long a step computes, and what makes it vary.
struct ComputeTask {
  Duration forward = {};
  Duration backward = {};
  double jitter = 0;  ///< relative standard deviation
  double factor = 1;  ///< a straggler's is larger
  bool operator==(const ComputeTask&) const = default;
};

/// Exchanges of one size, timed together.
struct BenchRow {
  std::int64_t elements = 0;
  int repeats = 1;
  bool operator==(const BenchRow&) const = default;
};

struct Task {
  transport::tcp::Token token = {};
  std::string address;  ///< to listen on and to connect from
  int rank = 0;
  std::string strategy;
  collective::Arrangement arrangement;
  std::vector<Bucket> buckets = {};  ///< in the order in which backward fills them
  ComputeTask compute = {};
  std::int64_t steps = 0;
  int warmup = 0;
  bool broadcast = true;
  bool overlap = false;
  int connections = 1;
  int side_connections = 0;
  bool verify = false;
  std::uint64_t seed = 1;
  Duration start = {};  ///< after everybody was ready
  std::string log;      ///< file for the phases of its steps
  std::string sockets;  ///< file for what TCP says of its connections
  Duration patience = std::chrono::seconds(30);
  std::vector<BenchRow> bench = {};  ///< instead of training

  std::int64_t elements() const;
  /// Workers contribute; the ranks behind them are servers.
  int workers() const;
  bool is_server() const { return rank >= workers(); }
};

nlohmann::json to_json(const Task& task);
/// Throws DataError when it is none.
Task task_from(const nlohmann::json& document);

/// The schedule of an exchange; pair averaging draws its peers anew for each step.
collective::Schedule schedule_of(const Task& task, std::int64_t step = 0);

}  // namespace tw::trainer
