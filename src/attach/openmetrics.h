// SPDX-License-Identifier: Apache-2.0
// What is watched, as a monitoring system asks for it: the text format of OpenMetrics 1.0.
//
// Names of counters end in _total, units are base units, and the text ends in "# EOF". Labels hold addresses and names of
// devices alone, of which there are few (tally.h).

#pragma once

#include "trainwire/attach/tally.h"
#include "trainwire/record/run.h"

#include <string>
#include <string_view>

namespace tw::attach {

inline constexpr const char* kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct Exposed {
  Sums sums = {};                ///< since the beginning
  record::Verdict verdict = {};  ///< of the latest window
  int process = 0;
  std::string version = {};
};

std::string exposition(const Exposed& exposed);

/// As it stands between the quotes of a label.
std::string escaped(std::string_view value);

}  // namespace tw::attach
