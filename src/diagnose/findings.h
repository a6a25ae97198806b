// SPDX-License-Identifier: Apache-2.0
// The analysis in sentences, each with its numbers: trouble first, then what the job does.

#pragma once

#include "trainwire/diagnose/analysis.h"

#include <string>
#include <vector>

namespace tw::diagnose {

inline constexpr const char* kFitsNothing = "hosts and bytes fit no strategy that is known";

/// At most seven, never none. `looked_for` says what was looked for where nothing was found,
/// `unknown` why there are steps without a strategy.
std::vector<Finding> findings_of(const Analysis& analysis, const gather::Captured& traffic,
                                 const std::string& looked_for,
                                 const std::string& unknown = kFitsNothing);

/// "10.0.0.1→10.0.0.3→10.0.0.2", shortened in the middle when there are more than eight.
std::string arrow_chain(const std::vector<std::string>& hosts);

}  // namespace tw::diagnose
