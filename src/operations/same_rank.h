// SPDX-License-Identifier: Apache-2.0
// Several traces, or dumps, of one rank: a profiler that records now and then writes one file each time, and some files are
// given twice.

#pragma once

#include "trainwire/operations/told.h"

#include <vector>

namespace tw::operations {

/// What files of a kind and rank tell of different times is put into the first of them. Of those that tell of the same time only
/// the one that tells most keeps its operations, and the others get a note.
void join_same_rank(std::vector<Told>& told);

}  // namespace tw::operations
