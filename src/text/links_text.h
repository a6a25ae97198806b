// SPDX-License-Identifier: Apache-2.0
// Links of a run in words: which was the fullest, and where packets were lost.

#pragma once

#include "trainwire/record/run.h"

#include <string>
#include <string_view>

namespace tw::text {

/// "host1 receiving", "core, left to right", "leaf0-spine1, up".
std::string way_text(std::string_view link, std::string_view direction);

/// At most two lines; none where nothing was counted.
std::string links_text(const record::Run& run);

}  // namespace tw::text
