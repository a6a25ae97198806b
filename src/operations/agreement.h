// SPDX-License-Identifier: Apache-2.0
// Two kinds of files that tell of the same job are two independent counts: do they tell of the same bytes?
//
// A trace covers some steps, a log all of them. So sizes that one kind tells for a rank and operation, in order, must
// stand in that order, without a gap, in what the other kind tells.

#pragma once

#include "trainwire/operations/told.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::operations {

struct Agreement {
  std::string one = {};  ///< kind that tells of fewer
  std::string other = {};
  std::uint64_t compared = 0;  ///< operations of ranks
  std::uint64_t bytes = 0;
  bool agrees = true;
  std::string difference = {};  ///< of the first that differs
};

/// One for each pair of kinds that have a rank and an operation in common.
std::vector<Agreement> agreements(const std::vector<Told>& told);

}  // namespace tw::operations
