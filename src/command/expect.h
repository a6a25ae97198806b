// SPDX-License-Identifier: Apache-2.0
// The experiment's own pass criteria ([[expect]]), compared with a command's --json document.
//
// Each command judges those that are `of` it: they are in its document ("expectations"), in its
// text, and in its exit code. A path at which the document has no number is a claim that failed: a
// test that tests nothing must not pass.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/spec/experiment.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::command {

using Judged = record::Expectation;

/// A dotted path, numbers being array positions, looked up.
struct Lookup {
  std::optional<double> number = {};
  std::string problem = {};  ///< why there is none, and which path was perhaps meant
};
Lookup look_up(const nlohmann::ordered_json& document, std::string_view path);

Judged judge(const spec::Expectation& expectation, const nlohmann::ordered_json& document);

/// Judges those `of` this command and adds them to the document.
std::vector<Judged> judge_all(std::span<const spec::Expectation> expectations,
                              std::string_view command, nlohmann::ordered_json& document);

/// The same of a record's document, into the record.
std::vector<Judged> judge_all(std::span<const spec::Expectation> expectations,
                              std::string_view command, record::Run& run);

/// A line for each; empty when there are none.
std::string expectations_text(std::span<const Judged> judged);

/// The exit code: kDone, or kExpectationFailed when one failed; those that did go to `err`, a line
/// each.
int expectations_code(std::span<const Judged> judged, std::ostream& err);

}  // namespace tw::command
