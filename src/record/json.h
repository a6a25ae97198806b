// SPDX-License-Identifier: Apache-2.0
// The record as a document, written and read: `--json`, and "summary" of run.json.
//
// describe_*.h name each member once; writing and reading both follow from that.

#pragma once

#include "trainwire/record/run.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tw::record {

nlohmann::ordered_json to_json(const Run& run);
/// Whatever is there and of the right type; everything else is absent.
Run run_from(const nlohmann::ordered_json& document);

nlohmann::ordered_json to_json(const Value& value);
Value value_from(const nlohmann::ordered_json& document);

nlohmann::ordered_json to_json(const CaptureFile& file);
nlohmann::ordered_json to_json(const std::vector<Count>& counts);
nlohmann::ordered_json to_json(const Network& network);

/// A value as it is written, in one line.
std::string in_one_line(const Value& value);

/// For people and files, with bytes that are no UTF-8 replaced: names come from outside.
std::string dumped(const nlohmann::ordered_json& document);
std::string dumped(const Run& run);

}  // namespace tw::record
