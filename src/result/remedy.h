// SPDX-License-Identifier: Apache-2.0
// What a user can do when a run folder cannot be written.

#pragma once

#include "trainwire/base/error.h"

#include <fmt/format.h>

namespace tw::result {

/// Calls `write` and adds the remedy to a SystemError: it is the same for a full disk, a missing
/// permission and a read-only file system.
template <typename Write>
auto with_remedy(Write write) {
  try {
    return write();
  } catch (const SystemError& error) {
    throw SystemError(fmt::format("{}; make room or permit it, or choose another place with --out",
                                  error.what()));
  }
}

}  // namespace tw::result
