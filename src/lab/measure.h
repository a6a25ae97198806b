// SPDX-License-Identifier: Apache-2.0
// One experiment trained and measured, into one run folder, without a command line.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/lab/place.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <string>

namespace tw::lab {

struct Measured {
  record::Run run = {};
  bool interrupted = false;
  std::optional<std::string> failure = {};  ///< of a rank: what there was until then is recorded
  ConductOutcome outcome = {};

  bool is_whole() const { return !interrupted && !failure; }
};

/// Throws SpecError for an experiment that cannot be run.
void require_runnable(const spec::Experiment& experiment, const RunPlace& place);

/// Runs it, fills and finishes the folder. A rank that fails is part of the answer. To be called
/// before this process has threads. Throws Error when it cannot be run at all.
Measured measure(const spec::Experiment& experiment, const RunPlace& place,
                 record::RunFolder& folder, const Observer& observer = {});

}  // namespace tw::lab
