// SPDX-License-Identifier: Apache-2.0
// Where the width of a prediction's interval comes from, for people and for programs: only what counts.

#pragma once

#include "trainwire/forecast/forecast.h"

#include <string>
#include <vector>

namespace tw::guide {

/// One reason why a prediction is uncertain.
struct IntervalSource {
  std::string name = {};   ///< "form", "noise", "extrapolation", "constants"
  std::string words = {};  ///< "the model's form, as 33 experiments like this (bandwidth) were off"
  double width = 0;        ///< logarithm of a factor on what the network takes, to four decimals
};

/// The largest first; what is less than a thousandth is left out.
std::vector<IntervalSource> interval_sources(const forecast::JobForecast& job);

/// "what the network takes is known to 7.3 %: ..."; with several sources each has its own per cent.
std::string interval_text(const forecast::JobForecast& job);

}  // namespace tw::guide
