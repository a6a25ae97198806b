// SPDX-License-Identifier: Apache-2.0
// Who is cut off, from who cannot reach whom.
//
// When a link is cut, everybody's exchange stops, and each rank waits for its neighbour; what tells
// the cut from the waiting is data that nobody acknowledges. Each such connection has a bad end, but
// its two ranks cannot tell which. The fewest ranks that account for all of them are taken for
// gone: the one with most such connections first; of equals the last, so that the chief stays.
//
// Limits: between two ranks alone either may be the one; two halves of a network that do not see
// each other lose the smaller one only as far as its connections are counted.

#pragma once

#include <utility>
#include <vector>

namespace tw::recover {

/// Two ranks that do not reach each other, in any order.
using Cut = std::pair<int, int>;

/// In ascending order; nobody when there are no cuts.
std::vector<int> culprits(std::vector<Cut> cuts);

}  // namespace tw::recover
