// SPDX-License-Identifier: Apache-2.0
// What a strategy's host pairs look like, counted from its schedule, and the search for the ranks
// behind the hosts.
//
// Nothing about a strategy is written down here a second time: its matrix is what
// collective::for_each_host_pair counts. The search assigns ranks to hosts one by one and gives up
// an assignment at the first pair whose bytes do not fit.

#pragma once

#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/pattern.h"

#include <optional>
#include <string_view>
#include <vector>

namespace tw::recognise {

/// Parts of the payload from rank to rank, row by row.
struct Signature {
  int ranks;
  std::vector<double> parts;
  double at(int from, int to) const {
    return parts[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) +
                 static_cast<std::size_t>(to)];
  }
};

/// One rank on each host. REQUIRES: collective::problem(strategy, ...) finds none.
Signature signature_of(std::string_view strategy, int ranks, int servers = 1);

struct Match {
  std::vector<int> place_of;  ///< place in the pattern of each rank
  double payload;             ///< bytes
  double residual;            ///< sum of differences over sum of bytes
};

/// Nothing when no assignment fits within `tolerance` of the largest pair, or the search was given
/// up after a bounded number of tries.
std::optional<Match> match(const Pattern& pattern, const Signature& signature, double tolerance);

}  // namespace tw::recognise
