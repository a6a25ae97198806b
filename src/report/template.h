// SPDX-License-Identifier: Apache-2.0
// The page without data, as web/ builds it: template.html beside this file, carried in the program.

#pragma once

#include <string_view>

namespace tw::report {

/// Where the data of a page go, once in the template.
inline constexpr std::string_view kDataMark = "TRAINWIRE_DATA";

std::string_view page_template();

}  // namespace tw::report
