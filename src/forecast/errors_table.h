// SPDX-License-Identifier: Apache-2.0
// data/errors.csv, which the program carries inside: see errors.h.

#pragma once

#include <string_view>

namespace tw::forecast {

std::string_view errors_table();

}  // namespace tw::forecast
