// SPDX-License-Identifier: Apache-2.0
// What one point of view saw: a table's results, ready to be compared and combined with others'.

#pragma once

#include "trainwire/flow/flow.h"
#include "trainwire/flow/pair.h"
#include "trainwire/flow/table.h"

#include <cstdint>
#include <vector>

namespace tw::flow {

struct View {
  std::vector<Flow> flows = {};  ///< by key, then first time
  std::vector<PairCount> pairs = {};
  Totals totals = {};
  Clock clock = {};
  std::int64_t burst_gap_ns = 0;
  Series series = {};  ///< all wire bytes

  /// Times of its packets are within these; false for what it cannot have seen.
  bool covers(std::int64_t time_ns) const {
    return time_ns >= totals.first_ns && time_ns <= totals.last_ns;
  }
};

/// The table is finished by it.
View view_of(FlowTable& table);

/// Addresses of the host that captured: those that are source or destination of nine tenths of all
/// packets with addresses. None on a mirror port, two when one host talked to one other only.
std::vector<std::uint32_t> home_of(const std::vector<PairCount>& pairs);

/// Series with windows of `width_ns`, bursts joined over `gap_ns`, where they are finer.
/// REQUIRES: width_ns is the view's width times a power of two.
void coarsen(View& view, std::int64_t width_ns, std::int64_t gap_ns);
/// All times of flows and totals, not those of series, which are moved when they are merged.
void move_times(View& view, const TimeMap& map);

}  // namespace tw::flow
