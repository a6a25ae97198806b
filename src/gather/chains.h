// SPDX-License-Identifier: Apache-2.0
// Captures that may follow one another in time, apart from those that cannot: different chains are
// read at the same time, the files of one in order.
//
// Files of different hosts never follow one another, nor do files that overlap in time. How long a
// file lasts is seen at its end, where it is plain pcap (glimpse.h).

#pragma once

#include "trainwire/gather/glimpse.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tw::gather {

/// Numbers of files, in the order of their beginnings.
using Chain = std::vector<std::size_t>;

/// All files.
Chain by_beginning(std::span<const Glimpse> files);
/// Each file is in one; in the order of their first ones. Files without packets are in the first.
std::vector<Chain> chains_of(std::span<const Glimpse> files);

}  // namespace tw::gather
