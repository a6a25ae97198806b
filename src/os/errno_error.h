// SPDX-License-Identifier: Apache-2.0
// The kernel's refusals as SystemError, in one form: "<attempt>: <errno text>; <what to do>".

#pragma once

#include "trainwire/base/error.h"

#include <string_view>

namespace tw::os {

/// `code` is an errno value, saved by the caller before anything could overwrite it. `remedy` may
/// be empty. To be thrown: `throw errno_error("opening x", errno)`.
SystemError errno_error(std::string_view attempt, int code, std::string_view remedy = "");

}  // namespace tw::os
