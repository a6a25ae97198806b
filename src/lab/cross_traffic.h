// SPDX-License-Identifier: Apache-2.0
// The [[traffic]] of an experiment as tasks for sources and sinks.

#pragma once

#include "trainwire/lab/training.h"
#include "trainwire/load/entry.h"
#include "trainwire/network/plan.h"
#include "trainwire/traffic/task.h"

#include <span>
#include <string>
#include <vector>

namespace tw::lab {

/// One source and one sink; a silent entry needs no processes.
struct CrossTraffic : load::Entry {
  traffic::SourceTask source;
  traffic::SinkTask sink;
};

/// A file's line for each flow of the source in the run folder.
std::string flows_file(const std::string& folder, std::size_t number);

/// Of the experiment as it is run (spec::scaled) on the plan made of it. Throws as load::entries.
std::vector<CrossTraffic> cross_traffic(const spec::Experiment& experiment,
                                        const network::NetPlan& plan,
                                        std::span<const HostAddress> hosts,
                                        const std::string& folder);

}  // namespace tw::lab
