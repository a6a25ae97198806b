// SPDX-License-Identifier: Apache-2.0
// Plans as `trainwire plan` prints them: the --json document and the text for people.

#pragma once

#include "trainwire/predict/plan.h"
#include "trainwire/spec/experiment.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace tw::text {

/// Schema 1: bytes, bit/s, seconds.
nlohmann::ordered_json plan_document(const spec::Experiment& experiment,
                                     std::span<const predict::JobPlan> plans);

std::string plan_text(const spec::Experiment& experiment, std::span<const predict::JobPlan> plans);

}  // namespace tw::text
