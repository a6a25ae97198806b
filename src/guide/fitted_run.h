// SPDX-License-Identifier: Apache-2.0
// What `predict` makes of a run: the experiment that behaves like it (like/like.h), put in the place
// of a file, or its computing and its factor put into another experiment.

#pragma once

#include "trainwire/command/experiment_file.h"
#include "trainwire/forecast/forecast.h"
#include "trainwire/forecast/step.h"
#include "trainwire/like/like.h"
#include "trainwire/spec/experiment.h"

#include <string>
#include <vector>

namespace tw::guide {

/// Whether FILE is a run folder.
bool is_run(const std::string& path);

/// Throws DataError with a sentence where nothing can be fitted. `force`: also to a run whose checks
/// failed.
like::Fitted fitted_run(const std::string& folder, sim::Level level, bool force);

/// The file is what the run behaves like.
void put_in_place(command::ExperimentFile& file, const like::Fitted& fitted);

/// Jobs compute as those of the run did. Throws DataError where there are not as many.
void compute_alike(spec::Experiment& experiment, const like::Fitted& fitted);

/// Steps are longer or shorter than simulated ones as the run's were.
void adjust(forecast::Asking& asking, const like::Fitted& fitted);

/// Links of the fitted experiment have the names that the record has for its hosts.
void name_hosts(std::vector<forecast::JobForecast>& jobs, const like::Fitted& fitted);

/// How well the factor is known: half the width of its interval, as a logarithm.
double uncertainty(const like::Fitted& fitted);

}  // namespace tw::guide
