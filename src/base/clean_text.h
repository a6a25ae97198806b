// SPDX-License-Identifier: Apache-2.0
// Text of tables as readers of Parquet, JSON and SQLite take it: well-formed UTF-8 (RFC 3629)
// without NUL, at which many of them end a text.

#pragma once

#include <string>
#include <string_view>

namespace tw {

/// Whether `text` is UTF-8 without NUL.
bool is_clean(std::string_view text);

/// `text` with U+FFFD in place of each NUL and each byte that is no part of a UTF-8 character.
std::string cleaned(std::string_view text);

}  // namespace tw
