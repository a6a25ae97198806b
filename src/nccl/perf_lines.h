// SPDX-License-Identifier: Apache-2.0
// A line of nccl-tests' table as it stands in somebody's log.

#pragma once

#include <string_view>

namespace tw::nccl {

/// Without what launchers put before a line and NCCL's log behind it: "host:12:34 [0] NCCL INFO".
std::string_view bare_row(std::string_view line);

}  // namespace tw::nccl
