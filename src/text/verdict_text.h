// SPDX-License-Identifier: Apache-2.0
// The verdict of a record and where its steps' time goes, as the first lines of what a command prints.

#pragma once

#include "trainwire/record/run.h"

#include <string>
#include <string_view>

namespace tw::text {

/// Two lines and an empty one: the sentence, and the parts of a step; two more lines for each further
/// job, up to three. Empty where there is no verdict.
std::string verdict_text(const record::Run& run);

/// "waiting behind a slow link": a part's name for people.
std::string_view part_words(std::string_view part);

}  // namespace tw::text
