// SPDX-License-Identifier: Apache-2.0
// Removing what a dead run wrote, and never anything else: no symbolic link is followed, no other
// file system entered, nothing of another user's touched.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tw::ledger {

/// What became of a recorded path.
struct PathFate {
  bool was_there = false;  ///< and is gone now, or would be
  std::string note = {};   ///< why it was left alone; empty otherwise
};

/// Removes the file or folder `path` if it lies inside (not: is) one of `roots`. With `dry_run` it
/// only looks.
PathFate remove_path(const std::string& path, const std::vector<std::string>& roots, bool dry_run);

}  // namespace tw::ledger
