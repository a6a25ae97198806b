// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) and the code of a message by a secret made of it, HMAC (RFC 2104).
//
// For short messages: the whole text is in memory.

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tw::fleet {

using Digest = std::array<std::byte, 32>;

Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);

/// In lower-case hexadecimal digits.
std::string text_of(const Digest& digest);

/// Looks at all bytes, whichever differs. Texts of different lengths differ.
bool same_in_constant_time(std::string_view a, std::string_view b);

}  // namespace tw::fleet
