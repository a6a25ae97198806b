// SPDX-License-Identifier: Apache-2.0
// Trying something without consequences for this process.

#pragma once

#include "trainwire/testbed/features.h"

#include <functional>
#include <string>

namespace tw::testbed {

/// Runs `body` in a child with that privilege. It works if `body` returns; the text it returns, or
/// that of the exception it throws, is the reason. A child that does not answer for 7 s is killed.
/// For Privilege::None nothing is tried.
Feature attempt(Privilege privilege, const std::function<std::string()>& body);

}  // namespace tw::testbed
