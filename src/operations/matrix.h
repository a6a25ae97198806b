// SPDX-License-Identifier: Apache-2.0
// Who sent how much to whom, of all flow records together.

#pragma once

#include "trainwire/operations/told.h"

#include <string>
#include <vector>

namespace tw::operations {

/// Pairs of addresses in order; of several files the largest count of a pair, for collectors on the same way see the same
/// packets.
std::vector<record::Pair> matrix_of(const std::vector<Told>& told);

/// Hosts in order, when each sends most of its bytes to one other and these ways make one circle with most of all bytes;
/// else none. REQUIRES: pairs as of matrix_of.
std::vector<std::string> ring_in(const std::vector<record::Pair>& pairs);

/// As sentences; none without pairs.
std::vector<std::string> remarks_on(const std::vector<record::Pair>& pairs);

}  // namespace tw::operations
