// SPDX-License-Identifier: Apache-2.0
// Operations of all files by their kinds: how many, how large, how long, each counted once.

#pragma once

#include "trainwire/operations/imported.h"

#include <string_view>

namespace tw::operations {

/// Whether a kind of file tells of operations that were made to be timed: ranks come to them together.
bool is_benchmark(std::string_view kind);

/// Kind by kind, each operation counted once. Counts and bytes are of the kind of file that tells of most; times of those
/// that tell times.
record::Operations operations_of(const Imported& imported);

}  // namespace tw::operations
