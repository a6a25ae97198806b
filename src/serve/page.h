// SPDX-License-Identifier: Apache-2.0
// The page of the server: report's template with the served folder instead of runs.

#pragma once

#include "trainwire/report/report.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tw::serve {

struct ServedPage {
  std::string html;
  std::string policy;  ///< for the Content-Security-Policy header
};

/// The template's policy forbids every request; here it allows those to the server itself, and the
/// header repeats it and forbids frames, which a policy inside a page cannot.
ServedPage served_page(std::string_view page_template, const report::Maker& maker,
                       const std::string& folder, std::int64_t upload_limit_bytes);

}  // namespace tw::serve
