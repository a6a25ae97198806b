// SPDX-License-Identifier: Apache-2.0
// Points of a simulated sweep on the processors of many machines (cluster/pool.h).

#pragma once

#include "trainwire/cluster/spreading.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/sweep/sweep.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tw::spread {

class SpreadPoints {
 public:
  /// REQUIRES: everything outlives it.
  SpreadPoints(const cluster::Spreading& spreading, const command::ExperimentFile& experiment,
               const sweep::Request& request, sim::Level level);

  sweep::Engine engine(std::function<void(const std::string&)> tell);
  std::size_t reached() const { return found_.size(); }

 private:
  void spread(const std::vector<std::size_t>& points);

  const cluster::Spreading& spreading_;
  const command::ExperimentFile& experiment_;
  const sweep::Request& request_;
  sim::Level level_;
  std::function<void(const std::string&)> tell_;
  std::map<std::size_t, sweep::Attempt> found_;
  std::string failure_;
  bool interrupted_ = false;
};

/// A worker on one of the machines.
int run_simulations(os::FileDescriptor control);

}  // namespace tw::spread
