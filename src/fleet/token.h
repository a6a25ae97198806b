// SPDX-License-Identifier: Apache-2.0
// Where a run that waits and its hosts have their token from, the same for both: TRAINWIRE_TOKEN, or
// the file that TRAINWIRE_TOKEN_FILE names and that only its owner may read.

#pragma once

#include "trainwire/fleet/seat.h"
#include "trainwire/transport/tcp/hello.h"

#include <string_view>

namespace tw::fleet {

inline constexpr const char* kTokenFileVariable = "TRAINWIRE_TOKEN_FILE";

/// Throws SpecError when neither is set or it is no token, SystemError for a file that others may
/// read or nobody can.
transport::tcp::Token token_from(const Variables& variables);

/// 32 hexadecimal digits. Throws SpecError.
transport::tcp::Token token_of(std::string_view text);

}  // namespace tw::fleet
