// SPDX-License-Identifier: Apache-2.0
// What was built: the project's version and the commit, written by cmake/version.cmake at build
// time.

#pragma once

#include <string_view>

namespace tw::command {

std::string_view version();
std::string_view commit();

}  // namespace tw::command
