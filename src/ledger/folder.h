// SPDX-License-Identifier: Apache-2.0
// Where the ledgers of this user's runs are kept. Nobody else may write there, since what a ledger
// names will be killed or removed.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <sys/types.h>

#include <optional>
#include <string>

namespace tw::ledger {

/// $TRAINWIRE_STATE, or /run/trainwire for root, or $XDG_RUNTIME_DIR/trainwire, or
/// /tmp/trainwire-UID: the first that is given and could be this user's. UID is the user's even for
/// the root of a user namespace of one user.
std::string state_folder();

/// Inside a user namespace of one user only: who that is outside. Nothing elsewhere.
std::optional<uid_t> outer_user();

/// Makes the folder (0700) unless it is there. Throws SystemError when that fails, or it is a
/// symbolic link or somebody else's, or others may write to it.
os::FileDescriptor make_state_folder(const std::string& path);
/// The same, but a folder that is not there is not made: the descriptor is then not open.
os::FileDescriptor open_state_folder(const std::string& path);

}  // namespace tw::ledger
