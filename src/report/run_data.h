// SPDX-License-Identifier: Apache-2.0
// A run folder as data of a page.
//
// What is there is taken, what is not is named: a page of a run that was killed, or of one without
// a capture, says what it cannot show and why.

#pragma once

#include "trainwire/report/limits.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tw::report {

/// {"label", "path", "command", "complete", "partial", "provenance", "summary", "steps",
/// "throughput", "close", "iterations", "transfers", "phases", "matrix", "flows", "flow_rows",
/// "cross_flows", "sockets", "queues", "load", "points", "sweep", "fit", "notes"}; a part whose
/// table is missing is null, and "notes" tell of damage. Lists and texts of run.json are cut as
/// `limits` says. Throws SystemError when there is no run, DataError when run.json is none of ours.
nlohmann::ordered_json run_data(const std::string& folder, const Limits& limits);

/// `value` with lists of at most `limits.list_items` and texts of at most `limits.text_bytes`; a
/// cut text ends in "…". Whole characters only.
nlohmann::ordered_json cut_to(const nlohmann::ordered_json& value, const Limits& limits);

}  // namespace tw::report
