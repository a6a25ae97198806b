// SPDX-License-Identifier: Apache-2.0
// What a host says of itself when it joins: it becomes names of files and addresses that others
// connect to, so it is looked at first.

#pragma once

#include "trainwire/fleet/fleet.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace tw::fleet {

/// Letters, digits, dots, dashes and underscores, beginning with a letter or a digit; at most 64.
bool is_plain_name(std::string_view name);

/// A host whose name is not plain is called hostN. Throws DataError for an address that is none,
/// and what reading JSON throws.
JoinedHost introduced(const nlohmann::json& hello, int number);

}  // namespace tw::fleet
