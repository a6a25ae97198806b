// SPDX-License-Identifier: Apache-2.0
// A timeline as Trace Event JSON, for chrome://tracing and whatever else reads it: complete slices
// (X), counters (C) and names (M). Times are microseconds since the timeline's start, with
// nanoseconds behind the point; the start itself is in "otherData".

#pragma once

#include "trainwire/result/output_folder.h"
#include "trainwire/timeline/timeline.h"

#include <string>

namespace tw::exports {

/// NAME.trace.json. Throws SystemError.
void write_chrome(result::OutputFolder& folder, const std::string& name,
                  const timeline::Timeline& timeline);

}  // namespace tw::exports
