// SPDX-License-Identifier: Apache-2.0
// What packets alone tell: the document that `trainwire analyze --json` prints of a capture, or of
// the packets that an experiment puts on simulated wires. Analysis is told nothing of the experiment.

#pragma once

#include "trainwire/spec/experiment.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace tw::reproduce {

/// Throws DataError when there are no packets in it, SystemError.
nlohmann::ordered_json analysed(const std::string& capture);

/// At the cluster's own sizes; captures are removed afterwards. Throws Error when it does not end.
nlohmann::ordered_json analysed(const spec::Experiment& experiment,
                                const std::function<bool()>& goes_on);

}  // namespace tw::reproduce
