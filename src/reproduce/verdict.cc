// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/verdict.h"

#include <algorithm>
#include <array>

namespace tw::reproduce {
namespace {

constexpr std::array<std::string_view, 5> kNames{"not determined", "contradicted", "shape only",
                                                 "reproduced, fitted", "reproduced"};

}  // namespace

std::string_view name_of(Verdict verdict) { return kNames[static_cast<std::size_t>(verdict)]; }

std::optional<Verdict> verdict_named(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return {};
  return static_cast<Verdict>(found - kNames.begin());
}

Verdict together(std::span<const Verdict> verdicts) {
  Verdict worst = Verdict::NotDetermined;
  for (const Verdict each : verdicts) {
    if (each == Verdict::NotDetermined) continue;
    worst = worst == Verdict::NotDetermined ? each : std::min(worst, each);
  }
  return worst;
}

}  // namespace tw::reproduce
