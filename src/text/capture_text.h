// SPDX-License-Identifier: Apache-2.0
// The summary of a capture: at most 30 lines, as long as they need to be (terminal/look.h).

#pragma once

#include "trainwire/summarise/capture.h"

#include <string>

namespace tw::text {

inline constexpr std::size_t kMostLines = 30;

/// `folder` is where the tables are; "" when they were not written. `verdict` comes first
/// (verdict_text.h). The last line says what to do next.
std::string capture_text(const summarise::CaptureResult& result, const std::string& folder,
                         const std::string& verdict = "");

}  // namespace tw::text
