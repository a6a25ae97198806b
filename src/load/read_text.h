// SPDX-License-Identifier: Apache-2.0
// A small file as text.

#pragma once

#include <cstddef>
#include <string>

namespace tw::load {

/// Throws SystemError, DataError when it is longer than `most` bytes.
std::string read_text(const std::string& path, std::size_t most = 1'000'000'000);

}  // namespace tw::load
