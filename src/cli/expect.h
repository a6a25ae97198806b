// SPDX-License-Identifier: Apache-2.0
// The experiment's own pass criteria ([[expect]]), compared with a command's --json document.

#pragma once

#include "trainwire/spec/experiment.h"

#include <nlohmann/json.hpp>

#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace tw::cli {

struct Outcome {
  bool ok;
  std::string text;  ///< "jobs.0.step.rank_sent_bytes: expected 2011000000 ±0.1%, found 2010851328"
};

/// Looks up a dotted path, numbers being array positions. Throws SpecError when there is no such
/// number.
double metric(const nlohmann::ordered_json& document, std::string_view path);

Outcome judge(const spec::Expectation& expectation, const nlohmann::ordered_json& document);

/// Judges those `of` this command, prints a line for each to `err`, and returns the exit code: 0,
/// or 1 when one failed.
int judge_all(std::span<const spec::Expectation> expectations, std::string_view command,
              const nlohmann::ordered_json& document, std::ostream& err);

}  // namespace tw::cli
