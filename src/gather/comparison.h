// SPDX-License-Identifier: Apache-2.0
// Two points of view on the same flows: how their clocks differ, and which of the two a packet
// passes first.
//
// Both saw milestones of common flows. The time at the second less the time at the first is the
// clocks' difference plus the way from the first to the second for packets that pass the first
// first, and less the way back for those that come the other way. So every packet of one direction
// bounds the difference from above, every one of the other from below:
//
//     first view        second view        above: min (t2 - t1) of A -> B
//   A ----|---------------------|---- B    below: max (t2 - t1) of B -> A
//
// The estimate is the middle, and half the distance its uncertainty: no assumption but that delays
// are not negative. Which direction is which need not be known: only one way round leaves room
// between the bounds. When no constant fits, the clocks drift: then the middles of eight spans of
// time give a line.
//
// Limits: with traffic in one direction only there is no estimate. Asymmetric ways are inside the
// uncertainty, never corrected.

#pragma once

#include "trainwire/flow/time_map.h"
#include "trainwire/flow/view.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace tw::gather {

struct ClockEstimate {
  flow::TimeMap map;  ///< from the second view's times to the first's
  std::int64_t uncertainty_ns;
};

struct Comparison {
  std::optional<ClockEstimate> clock = {};
  /// By (source, destination): whether its packets pass the first view first.
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> passes_first = {};
};

/// Directed, by address numbers.
using AddressPair = std::pair<std::uint32_t, std::uint32_t>;
/// By flows between these only, which both views have. REQUIRES: flows are sorted by key; pairs are
/// in order, each once.
Comparison compare(const flow::View& first, const flow::View& second,
                   std::span<const AddressPair> common);
/// By all flows.
Comparison compare(const flow::View& first, const flow::View& second);

}  // namespace tw::gather
