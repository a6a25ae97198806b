// SPDX-License-Identifier: Apache-2.0
// What `fit` found, for people: at most 30 lines.

#pragma once

#include "trainwire/study/fit_models.h"

#include <string>
#include <vector>

namespace tw::text {

/// One series in full, several in a line or two each. The last line says what to do next; `source`
/// is for that. REQUIRES: results not empty.
std::vector<std::string> fit_text(const std::string& source, const study::FitColumns& columns,
                                  const std::vector<study::FitResult>& results);

}  // namespace tw::text
