// SPDX-License-Identifier: Apache-2.0
// Where a bracket is closed, found 64 bytes at a time.

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tw::readers {

/// Behind the bracket that closes the one at text[0], strings passed over; nothing when the text ends
/// before. Brackets of both kinds count alike. REQUIRES: text begins with { or [.
std::optional<std::size_t> closed_at(std::string_view text);

/// The same byte by byte: what closed_at is tested against, and used where a processor has no AVX2.
std::optional<std::size_t> closed_at_by_bytes(std::string_view text);

}  // namespace tw::readers
