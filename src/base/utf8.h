// SPDX-License-Identifier: Apache-2.0
// UTF-8 (RFC 3629) of texts that may be anybody's.

#pragma once

#include <cstddef>
#include <string_view>

namespace tw {

/// Bytes of the well-formed character that `text` starts with; 0 when it starts with none.
/// REQUIRES: text not empty.
std::size_t character_length(std::string_view text);

}  // namespace tw
