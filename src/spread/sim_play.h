// SPDX-License-Identifier: Apache-2.0
// One simulation of `sim`: its experiment as it is simulated, and what came of it.

#pragma once

#include "trainwire/command/experiment_file.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/experiment.h"

#include <functional>

namespace tw::spread {

/// In the cluster's own sizes and times. Throws SpecError.
spec::Experiment to_simulate(const command::ExperimentFile& file);

/// A simulation, recorded and judged.
struct Played {
  sim::Simulated simulated;
  record::Run run = {};
  sim::Telling telling = sim::Telling::Whole;
  bool interrupted = false;

  void write(record::RunFolder& folder) const;
};

/// `goes_on` is asked now and then.
Played played(const spec::Experiment& experiment, sim::Level level,
              const std::function<bool(Duration)>& goes_on,
              const medium::PacketNetwork::Seen& seen = {},
              sim::Telling telling = sim::Telling::Whole);

}  // namespace tw::spread
