// SPDX-License-Identifier: Apache-2.0
// All pairs in rounds in which nobody is in two of them: a 1-factorisation of the complete graph.

#pragma once

#include <utility>
#include <vector>

namespace tw::workload {

/// The circle method (Lucas 1883): one stays, the others go round it. An even number has one round
/// less than it has members, and everybody is in every round; an odd number has as many rounds as
/// members, and each rests once. The smaller number comes first. REQUIRES: members >= 2.
std::vector<std::vector<std::pair<int, int>>> pair_rounds(int members);

}  // namespace tw::workload
