// SPDX-License-Identifier: Apache-2.0
// Writes a resolved Experiment back, every value with its origin.

#pragma once

#include "trainwire/spec/experiment.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tw::spec {

/// TOML that parse.h reads back to an experiment with the same values. Behind each line stands
/// where the value comes from unless the file said it ("# default", "# derived: ..."); derived
/// facts that are no keys (round trip, queue bytes) are comments.
std::string to_toml(const Experiment& experiment);

/// The same as a document: {"network": {"rate_bps": {"value": 1e9, "origin": "default"}, ...}}.
/// Keys carry unit suffixes (_bps, _bytes, _ns) where the value has a unit.
nlohmann::ordered_json to_json(const Experiment& experiment);

/// What a document that to_json() made says is expected. Nothing where it says nothing; what is
/// no expectation is left out.
std::vector<Expectation> expectations_in(const nlohmann::ordered_json& experiment);

}  // namespace tw::spec
