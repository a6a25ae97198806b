// SPDX-License-Identifier: Apache-2.0
// The options of commands whose pieces of work many machines share: --launch, --machines, --port.

#pragma once

#include "trainwire/cluster/pool.h"
#include "trainwire/command/command_line.h"

#include <functional>
#include <optional>
#include <string>

namespace tw::cluster {

struct Spreading {
  std::string launch = {};
  std::optional<int> machines = {};
  int port = 0;

  bool asked() const { return !launch.empty() && launch != "local"; }
  /// Throws SpecError. REQUIRES: asked().
  PoolRequest request(const std::string& command, nlohmann::json task,
                      std::function<void(const std::string&)> tell,
                      std::function<bool()> stop) const;
};

/// `what` the machines share: "points of a sweep".
void add_spreading(command::CommandLine& app, Spreading& options, const std::string& what);

}  // namespace tw::cluster
