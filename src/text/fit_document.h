// SPDX-License-Identifier: Apache-2.0
// What `fit` found as one JSON document; its fields are a contract (docs/fit.md).
//
// x is in the column's unit everywhere but in `parameters` and `equation`, which belong together
// and name theirs.

#pragma once

#include "trainwire/study/fit_models.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tw::text {

/// The top level describes the first series that could be fitted; `series` all of them when there
/// are several. REQUIRES: one could be.
nlohmann::ordered_json fit_document(const std::string& source, const study::FitColumns& columns,
                                    const std::vector<study::FitResult>& results,
                                    const std::vector<std::string>& notes);

/// "t = 0.2 exp(7.28/(25 - x)^0.5)"; "" for ols.
std::string equation_of(const study::FitResult& result);
/// "(Gbit/s)^0.5"; "" when x has no unit.
std::string power_unit(const study::FitAxis& axis, double n);

}  // namespace tw::text
