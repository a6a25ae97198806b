// SPDX-License-Identifier: Apache-2.0
// Checkpoints in a folder: NAME-STEP.checkpoint, the last two of each name.
//
// A checkpoint is written beside its place, synced and renamed: a reader, a full disk, a killed
// writer and a power cut leave it whole or not there. Should one be torn all the same (a disk that
// lies, somebody's hand), its checksum says so, and the one before it is used.

#pragma once

#include "trainwire/checkpoint/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::checkpoint {

struct Store {
  std::string folder;
  std::string name;  ///< "job0", "job0-rank2"

  std::string path(std::int64_t step) const;
};

/// Writes it and removes all but the last two; the folder is made when it is not there. Returns the
/// bytes written. Throws SystemError.
std::uint64_t save(const Store& store, const Checkpoint& checkpoint);

/// A checkpoint that is whole.
struct Found {
  std::string path;
  std::int64_t step = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Found&) const = default;
};
/// The one with the highest step, if any. Those that cannot be used are named in `problems`.
std::optional<Found> latest(const Store& store, std::vector<std::string>& problems);

/// Throws SystemError, DataError.
Checkpoint load(const std::string& path);

/// All of that name, and what killed writers left; never throws.
void remove_all(const Store& store);

}  // namespace tw::checkpoint
