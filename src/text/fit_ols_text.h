// SPDX-License-Identifier: Apache-2.0
// A regression for people: coefficients with what they rest on, which of them matter, and reasons
// to doubt.

#pragma once

#include "trainwire/stats/ols.h"

#include <string>
#include <vector>

namespace tw::text {

/// At most 27 lines.
std::vector<std::string> ols_text(const stats::OlsFit& fit);

/// "significant at 5 %: model_bytes; not: batch".
std::string significance(const stats::OlsFit& fit);

}  // namespace tw::text
