// SPDX-License-Identifier: Apache-2.0
// What a simulation found, as `run` records what it measured.

#pragma once

#include "trainwire/record/phase.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/sim/simulate.h"

#include <vector>

namespace tw::sim {

enum class Telling {
  Full,     ///< everything, of every rank and every direction of a link
  Whole,    ///< jobs, links (the 512 fullest directions where there are more), checks, experiment
  Summary,  ///< what a sweep tells of a point: no link but the fullest, not the experiment
};

/// Steps and exchanges of all ranks, or of up to 1,024 at equal distances where there are more, unless
/// told in full; nanoseconds since the simulation's begin.
std::vector<record::PhaseRow> phases_of(const SimulatedJob& job, Telling telling = Telling::Whole);

/// Over the counted steps, of means over the workers; 0 without any.
double median_step_s(const SimulatedJob& job);

record::Run described(const spec::Experiment& experiment, const Simulated& simulated,
                      Telling telling = Telling::Whole);

/// steps.csv and links.csv.
void write_tables(const Simulated& simulated, const record::Run& run, Telling telling,
                  record::RunFolder& folder);

}  // namespace tw::sim
