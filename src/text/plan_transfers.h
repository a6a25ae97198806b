// SPDX-License-Identifier: Apache-2.0
// Every transfer of an experiment's jobs, played in virtual time, as the table `transfers` that
// `run --transfers` writes: to be compared with it, drawn or fed to other programs.
//
// Limits: each message has the path of its pair for itself, at the narrowest link's rate and with
// the delays of all links; jobs do not meet. Times count from when everybody is ready.

#pragma once

#include "trainwire/spec/experiment.h"

#include <ostream>

namespace tw::text {

/// CSV with a header line. Throws SpecError beyond ten million rows.
void print_transfers(const spec::Experiment& experiment, std::ostream& out);

}  // namespace tw::text
