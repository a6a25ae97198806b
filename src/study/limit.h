// SPDX-License-Identifier: Apache-2.0
// --fail-if: a difference that a comparison must not have.
//
// Grammar: a sign, a number, "%". "+3%" fails when the other run is higher by more than 3 %, "-3%"
// when it is lower by more than 3 %, "5%" when it is either by more than 5 %. It fails when the
// estimated difference is beyond the limit and the difference is significant (its interval excludes
// 0), so that noise does not fail a run; a count has no noise and fails beyond the limit.

#pragma once

#include "trainwire/study/comparison.h"

#include <string>
#include <string_view>

namespace tw::study {

struct Limit {
  std::string text;  ///< as it was given
  double share;      ///< 0.03
  bool up;           ///< fails when higher by more
  bool down;
};

/// Throws SpecError that shows what to write.
Limit parse_limit(std::string_view text);

enum class Judgement { Passed, Failed, CannotTell };

/// CannotTell when there are too few steps for a verdict.
Judgement judge(const Limit& limit, const MetricRow& row);

}  // namespace tw::study
