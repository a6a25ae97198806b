// SPDX-License-Identifier: Apache-2.0
// The last step of reading: views that are there become one, with each file's clock.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/gather/vantage.h"

#include <cstddef>
#include <vector>

namespace tw::gather {

/// `traffic` has its addresses and files, whose views are numbers of `views`; the rest is filled.
/// Times are those of view `first`, which becomes number 0.
void conclude(Captured& traffic, std::vector<flow::View> views, std::size_t first, Clocks clocks);

}  // namespace tw::gather
