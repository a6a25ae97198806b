// SPDX-License-Identifier: Apache-2.0
// One training process from its first message to its last.

#pragma once

#include "trainwire/os/file_descriptor.h"

namespace tw::trainer {

/// Speaks with the run over `control` (control.h) and does what it is told. Returns the exit code:
/// 0 when its work is done, 1 when it told why not. Never throws.
int run_rank(os::FileDescriptor control);

}  // namespace tw::trainer
