// SPDX-License-Identifier: Apache-2.0
// The [[traffic]] of an experiment as tasks for sources and sinks.

#pragma once

#include "trainwire/lab/training.h"
#include "trainwire/network/plan.h"
#include "trainwire/traffic/task.h"

#include <span>
#include <string>
#include <vector>

namespace tw::lab {

/// What flows from one host to another: one source and one sink.
struct CrossTraffic {
  std::string name;  ///< "websearch from host3 to host0"
  int from = 0;
  int to = 0;
  BitRate capacity = {};     ///< of the narrowest link on the way
  BitRate requested = {};    ///< as frames on that link
  double payload_share = 1;  ///< of a full frame
  traffic::SourceTask source;
  traffic::SinkTask sink;

  /// A load of 0 needs no processes.
  bool is_silent() const { return requested.bits_per_second() == 0; }
};

/// A file's line for each flow of the source in the run folder.
std::string flows_file(const std::string& folder, std::size_t number);

/// Of the experiment as it is run (spec::scaled) on the plan made of it. A list of flows gives one
/// entry for each of its destinations. Throws SpecError for what cannot be: more than the link
/// carries, a host that is not there; DataError, SystemError for a file.
std::vector<CrossTraffic> cross_traffic(const spec::Experiment& experiment,
                                        const network::NetPlan& plan,
                                        std::span<const HostAddress> hosts,
                                        const std::string& folder);

}  // namespace tw::lab
