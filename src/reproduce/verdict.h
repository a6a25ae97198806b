// SPDX-License-Identifier: Apache-2.0
// What is said of a published number, and of all numbers of an artefact.

#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tw::reproduce {

/// From worst to best.
enum class Verdict {
  NotDetermined,  ///< something is missing, which is named
  Contradicted,   ///< it cannot be, for a reason that was computed
  Shape,          ///< order and trend, not size
  Fitted,         ///< inside the tolerance, with values chosen for that, which are named
  Reproduced,     ///< inside the tolerance
};

/// "reproduced", "reproduced, fitted", "shape only", "contradicted", "not determined".
std::string_view name_of(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);

/// The worst that was determined; NotDetermined only where nothing was.
Verdict together(std::span<const Verdict> verdicts);

}  // namespace tw::reproduce
