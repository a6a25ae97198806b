// SPDX-License-Identifier: Apache-2.0
// A file that a run was made from, so that the same file can be known again.
//
// The hash is 64-bit FNV-1a over the size (as eight little-endian bytes) and a sample of the
// content: the first and the last MiB, and 64 blocks of 4 KiB at even distances in between; of
// files up to 2 MiB everything. A capture of 10 GB is hashed in milliseconds.
//
// Limits: it tells files apart that differ by accident, not by intent, and misses a change that
// touches no sampled block and leaves the size.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tw::result {

inline constexpr const char* kHashName = "fnv1a64-sampled";

struct InputFile {
  std::string path;
  std::optional<std::int64_t> bytes = {};  ///< nothing for a pipe
  std::string hash = {};                   ///< 16 hexadecimal digits; "" for a pipe
  bool operator==(const InputFile&) const = default;
};

/// "-" and whatever is no regular file are named only, for reading them would consume them. Throws
/// SystemError when the file cannot be read.
InputFile describe_input(const std::string& path);

}  // namespace tw::result
