// SPDX-License-Identifier: Apache-2.0
// Ladders followed through a FlowTable, for the tests of flows.

#pragma once

#include "trainwire/capture/ladder.h"
#include "trainwire/flow/table.h"
#include "trainwire/flow/view.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace tw::flow {

/// A ladder's view and its hosts.
struct Followed {
  View view;
  capture::LadderPackets ladder;

  std::vector<Flow> flows(char from, char to) const {
    std::vector<Flow> found;
    for (const Flow& flow : view.flows) {
      if (flow.key.source == ladder.host(from) && flow.key.destination == ladder.host(to)) {
        found.push_back(flow);
      }
    }
    return found;
  }
  /// REQUIRES: there is one.
  Flow flow(char from, char to) const { return flows(from, to).at(0); }
};

/// What holds for every view: bytes and packets are conserved.
inline void expect_conservation(const View& view) {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  for (const PairCount& pair : view.pairs) {
    packets += pair.packets;
    bytes += pair.wire_bytes;
    EXPECT_LE(pair.stream_bytes + pair.retransmitted_bytes, pair.payload_bytes);
  }
  EXPECT_LE(packets, view.totals.packets);
  EXPECT_LE(bytes, view.totals.wire_bytes);
  EXPECT_EQ(view.series.bytes(), view.totals.wire_bytes);
  for (const Flow& flow : view.flows) {
    EXPECT_EQ(flow.series.bytes(), flow.wire_bytes);
    std::uint64_t burst_bytes = 0;
    for (const Burst& burst : flow.bursts) burst_bytes += burst.bytes;
    EXPECT_EQ(burst_bytes, flow.stream_bytes());
  }
}

inline Followed follow(std::string_view text, const capture::LadderOptions& ladder = {},
                       const TableOptions& options = {}) {
  Followed result{.view = {}, .ladder = capture::ladder_packets(text, ladder)};
  FlowTable table(options);
  table.take(result.ladder.packets);
  result.view = view_of(table);
  expect_conservation(result.view);
  return result;
}

/// The ladder at initial sequence numbers that wrap around at every interesting place.
template <typename Test>
void at_every_isn(std::string_view text, Test test) {
  for (const std::uint32_t isn : capture::kTryingIsns) {
    SCOPED_TRACE(isn);
    test(follow(text, {.isn = isn, .reply_isn = ~isn}));
  }
}

}  // namespace tw::flow
