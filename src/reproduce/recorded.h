// SPDX-License-Identifier: Apache-2.0
// Verdicts that the tree has: recorded.toml beside artefact.toml, written by --record. Whoever
// changes the program learns from them what has become worse.

#pragma once

#include "trainwire/reproduce/judge.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::reproduce {

struct Recorded {
  Verdict verdict = Verdict::NotDetermined;
  std::map<std::string, Verdict> rows = {};  ///< by what they are of
};

/// Nothing when the artefact has none. Throws SpecError with file, line and remedy.
std::optional<Recorded> read_recorded(const Artefact& artefact);

/// As it stands in the file. Rows of the artefact that were not asked for now stay as they were.
std::string recorded_text(const Outcome& outcome, const Recorded& before = {});
/// Writes it. Throws SystemError, and SpecError as read_recorded does.
void record(const Outcome& outcome);

/// What is worse than it was, a sentence each. Rows that were not asked for now are left out.
std::vector<std::string> worse(const Outcome& outcome, const Recorded& recorded);

}  // namespace tw::reproduce
