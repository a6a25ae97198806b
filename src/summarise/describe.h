// SPDX-License-Identifier: Apache-2.0
// A capture and its analysis as part of a run's record.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/summarise/capture.h"

#include <string_view>
#include <vector>

namespace tw::summarise {

/// What `result` shows; of a result without packets nothing. `command` made it.
record::Run described(const CaptureResult& result, std::string_view command);

/// One file as `info` and `analyze` describe it.
record::CaptureFile described(const gather::FileSummary& file);
/// Packets of every verdict.
std::vector<record::Count> verdict_counts(const flow::Totals& totals);

}  // namespace tw::summarise
