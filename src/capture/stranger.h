// SPDX-License-Identifier: Apache-2.0
// What a file that is no capture looks like, so that the refusal can say what to do instead.

#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tw::capture {

/// "<what it is>; <what to do>", from the first bytes of a file (a few hundred are enough).
std::string stranger_description(std::span<const std::byte> first_bytes);

}  // namespace tw::capture
