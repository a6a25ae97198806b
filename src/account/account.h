// SPDX-License-Identifier: Apache-2.0
// Where the time of a job's steps goes, and the verdict: by simulating the experiment again with one
// cause left out after the other.
//
// In this order, each on top of those before it: loss (and queues that overflow), cross traffic,
// other jobs, late ranks, links slower than their peers, small socket buffers, TCP finding its rate,
// delay, rate. What a step gets shorter by is that cause's part; what is left is computing. So parts
// add up to the simulated step. TCP finding its rate is "idle_restart" where computing pauses longer
// than TCP remembers its window, otherwise part of "latency".
//
// Where a run was measured, computing is what ranks measured of it, and what then differs from the
// simulation is shared out among the network's parts (stretch.h); what is too much for that is a part
// of its own: "unexplained". Intervals are the model's usual error and half of what was shared out.
//
// Limits: flow level (sim/simulate.h); the median step; about two seconds in all, for which long
// jobs are simulated for a few steps, and beyond 2,048 ranks or where even those take too long there
// is no accounting, and the verdict says so.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>

namespace tw::account {

struct Options {
  double budget_s = 2;  ///< for all jobs together
};

/// Adds accounting and verdict to each job and to the record as a whole. `experiment`: resolved, as the
/// record's command was given it. Records without steps stay as they are.
void add(const spec::Experiment& experiment, record::Run& run, const Options& options = {});

}  // namespace tw::account
