// SPDX-License-Identifier: Apache-2.0
// Kinds of cross traffic by name.

#pragma once

#include "trainwire/spec/experiment.h"

#include <optional>
#include <string_view>

namespace tw::load {

/// "long", "websearch", "burst", "file", "constant", as in an experiment file.
std::string_view name_of(spec::TrafficKind kind);
std::optional<spec::TrafficKind> kind_named(std::string_view name);

}  // namespace tw::load
