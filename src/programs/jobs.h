// SPDX-License-Identifier: Apache-2.0
// The jobs of an experiment as somebody's programs: what each job's ranks run, and where.

#pragma once

#include "trainwire/lab/launch.h"
#include "trainwire/spec/experiment.h"

#include <string>
#include <vector>

namespace tw::programs {

/// One launch for each job; for an experiment without jobs one rank on each host. A job runs its own
/// command, or `command` (what stood behind "--") where it has none; of one job alone `command`
/// replaces its own. Of the experiment as it is run: spec::scaled. Throws SpecError when nothing
/// says what a job runs, or when `command` is nobody's.
std::vector<lab::LaunchRequest> program_jobs(const spec::Experiment& experiment,
                                             const std::vector<std::string>& command);

/// Files among the words of the programs: scripts, by which a run can be known again. Programs that
/// are found by PATH are not among them.
std::vector<std::string> script_files(const std::vector<lab::LaunchRequest>& jobs);

/// Its name, or "job0" for one alone.
std::string job_name(const lab::LaunchRequest& job);

}  // namespace tw::programs
