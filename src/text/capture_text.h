// SPDX-License-Identifier: Apache-2.0
// The summary of a capture for a terminal: at most 30 lines of at most 100 characters.

#pragma once

#include "trainwire/summarise/capture.h"

#include <string>

namespace tw::text {

inline constexpr std::size_t kMostLines = 30;
inline constexpr std::size_t kMostColumns = 100;

/// `folder` is where the tables are; "" when they were not written. The last line says what to do
/// next.
std::string capture_text(const summarise::CaptureResult& result, const std::string& folder);

}  // namespace tw::text
