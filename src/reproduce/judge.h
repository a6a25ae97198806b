// SPDX-License-Identifier: Apache-2.0
// An artefact, computed and judged.

#pragma once

#include "trainwire/reproduce/answers.h"
#include "trainwire/reproduce/artefact.h"
#include "trainwire/reproduce/verdict.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tw::reproduce {

/// Which engines may be asked.
struct Asking {
  bool full = false;                ///< real packets too
  std::optional<Engine> only = {};  ///< only what this one gives
};

/// One published number or claim, and ours.
struct Judged {
  std::string what;
  std::string place;
  std::optional<double> published = {};  ///< nothing for a claim
  std::optional<double> published_low = {};
  std::optional<double> published_high = {};
  std::optional<double> value = {};
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::string unit;
  std::string engine;  ///< of what it hangs on: "plan", "flow, packet", "equation"
  Verdict verdict = Verdict::NotDetermined;
  std::string reason = {};
  std::vector<std::string> fitted = {};
};

struct DrawnCurve {
  std::string name;
  bool is_published = false;
  Values x;
  Values y;
};

struct Outcome {
  Artefact artefact;
  std::vector<Judged> judged = {};  ///< none where a command does it, or nobody was asked
  std::vector<DrawnCurve> curves = {};
  Verdict verdict = Verdict::NotDetermined;
  std::string reason;
};

/// What has to be asked for it.
std::vector<Question> questions_of(const Artefact& artefact, const Asking& asking);

/// REQUIRES: `answers` has one for each of its questions; one that is missing was interrupted.
Outcome judge(const Artefact& artefact, const Asking& asking, const Answers& answers);

}  // namespace tw::reproduce
