// SPDX-License-Identifier: Apache-2.0
// A capture and its analysis as one JSON document; its fields are a contract.
//
// Sizes in bytes, rates in bit/s, times in seconds; `_s` fields that are moments count from 1970.

#pragma once

#include "trainwire/cli/capture_view.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tw::cli {

/// `command` is the one that prints it.
nlohmann::ordered_json capture_document(std::string_view command, const CaptureResult& result);

/// One file as `info` and `analyze` describe it.
nlohmann::ordered_json file_document(const gather::FileSummary& file);
/// {"tcp": 120, ...}, every verdict.
nlohmann::ordered_json verdict_document(const flow::Totals& totals);

/// With bytes that are no UTF-8 replaced: names come from outside.
std::string dumped(const nlohmann::ordered_json& document);

}  // namespace tw::cli
