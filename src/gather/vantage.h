// SPDX-License-Identifier: Apache-2.0
// Several points of view combined into one, each packet counted once, on one clock.
//
// All traffic of a directed pair of hosts is taken from one view: the sender's, that is the one
// whose home is the source; where homes do not tell, the one that packets pass first; then the one
// that saw most. A view that saw less than 99 % of the payload that another saw (it began late, or
// dropped packets) steps back. Flows of the other views join when they lie wholly outside the
// owner's time. So the same capture given twice counts once.
//
// Limits: packets without addresses (ARP and the like) are taken from the view that saw most of
// them. Small flows that were only counted are not looked for outside the owner's time. Series of
// what is in no kept flow are scaled to the bytes counted.

#pragma once

#include "trainwire/flow/view.h"
#include "trainwire/gather/comparison.h"

#include <optional>
#include <vector>

namespace tw::gather {

struct Combined {
  flow::View view;
  /// Of each view against the first; nothing when no chain of common two-way flows leads there.
  std::vector<std::optional<ClockEstimate>> clocks;
};

/// Whose clock stamped the views: each its own, or one machine's for all of them.
enum class Clocks { Own, Common };

/// REQUIRES: views is not empty; addresses are numbered alike in all of them; their clocks' widths
/// differ by powers of two. Times are the first view's.
Combined combine(std::vector<flow::View> views, Clocks clocks = Clocks::Own);

}  // namespace tw::gather
