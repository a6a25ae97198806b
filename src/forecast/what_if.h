// SPDX-License-Identifier: Apache-2.0
// The same job under other settings, all combinations of their values.
//
// Other numbers of ranks have as many hosts as they need, unless another what-if says how many.

#pragma once

#include "trainwire/forecast/changes.h"
#include "trainwire/forecast/interval.h"
#include "trainwire/forecast/step.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::forecast {

/// One --what-if: "job.strategy=ring,tree".
struct Question {
  std::string key = {};
  std::vector<std::string> values = {};
};
/// Commas inside brackets and quotes do not part values. Throws SpecError without a key or a value.
Question parse_question(std::string_view text);
/// A problem of settings as who asked "what if" reads it: variants put them in by --set.
std::string without_set(std::string_view problem);
/// Throws SpecError where one key is asked about twice, or there are more than kMostWhatIfs combinations.
void require_consistent(std::span<const Question> questions);
inline constexpr std::size_t kMostWhatIfs = 1'000'000;

struct WhatIf {
  std::vector<std::pair<std::string, std::string>> settings = {};
  std::vector<std::string> with = {};  ///< what follows from them: "network.hosts=64"
  /// What else that means: "on the hosts that the file names", or why it means nothing.
  std::string remark = {};
  std::vector<StepTime> steps = {};  ///< by job; empty where there is a problem
  std::vector<Interval> intervals = {};
  std::string problem = {};  ///< why there is no answer
};

/// On all processors, in the order of combinations, the last question's values fastest. What an experiment is refused for is a problem
/// of that row; a key or value that no experiment knows is thrown. `constants` as in interval.h.
std::vector<WhatIf> what_ifs(const spec::Experiment& base, std::span<const Question> questions,
                             const Variants& variants, const Asking& asking = {},
                             double constants = 0);

}  // namespace tw::forecast
