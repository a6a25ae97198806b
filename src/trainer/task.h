// SPDX-License-Identifier: Apache-2.0
// What one rank has to do, complete: it reads no experiment file and asks nobody.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/transport/tcp/hello.h"
#include "trainwire/workload/training.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tw::trainer {

/// Exchanges of one size, timed together.
struct BenchRow {
  std::int64_t elements = 0;
  int repeats = 1;
  bool operator==(const BenchRow&) const = default;
};

struct Task {
  workload::Training training;
  int rank = 0;
  transport::tcp::Token token = {};
  std::string address;         ///< to listen on and to connect from
  std::string log;             ///< file for the phases of its steps
  std::string sockets;         ///< file for what TCP says of its connections
  std::string transfers = {};  ///< file for what it moves; empty: none
  bool verify = false;         ///< what comes out of exchanges
  Duration patience = std::chrono::seconds(30);
  std::vector<BenchRow> bench = {};  ///< instead of training

  bool is_server() const { return training.is_server(rank); }
  bool operator==(const Task&) const = default;
};

nlohmann::json to_json(const Task& task);
/// Of the model only the name travels. Throws DataError when it is none.
Task task_from(const nlohmann::json& document);

}  // namespace tw::trainer
