// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/mesh.h"

#include <gtest/gtest.h>

namespace tw::recognise {
namespace {

/// Hosts 0..n-1 at addresses 1..n, each two joined by `connections`, and host 0 by `more`.
gather::Captured joined(int hosts, int connections, int more) {
  gather::Captured traffic = {};
  for (int a = 0; a < hosts; ++a) {
    for (int b = 0; b < hosts; ++b) {
      const int count = a == b ? 0 : connections + (a == 0 || b == 0 ? more : 0);
      for (int i = 0; i < count; ++i) {
        flow::Flow flow;
        flow.key = {static_cast<std::uint32_t>(a + 1), static_cast<std::uint32_t>(b + 1),
                    static_cast<std::uint16_t>(1000 + i), static_cast<std::uint16_t>(2000 + i), 6};
        traffic.flows.push_back(flow);
      }
    }
  }
  return traffic;
}

const std::vector<int> kHostOf{-1, 0, 1, 2, 3};

TEST(RanksByMesh, AreTheRootOfTheConnectionsBetweenTwoHosts) {
  EXPECT_EQ(ranks_by_mesh(joined(4, 1, 0), kHostOf, {0, 1, 2, 3}), 1);
  EXPECT_EQ(ranks_by_mesh(joined(4, 4, 0), kHostOf, {0, 1, 2, 3}), 2);
  EXPECT_EQ(ranks_by_mesh(joined(4, 16, 0), kHostOf, {0, 1, 2, 3}), 4);
}

TEST(RanksByMesh, DoNotCountTheRendezvous) {
  EXPECT_EQ(ranks_by_mesh(joined(4, 4, 4), kHostOf, {0, 1, 2, 3}), 2);
  EXPECT_EQ(ranks_by_mesh(joined(4, 1, 3), kHostOf, {0, 1, 2, 3}), 1);
}

TEST(RanksByMesh, AreUnknownWhenTheNumberIsNoSquareOrNotEverywhere) {
  EXPECT_EQ(ranks_by_mesh(joined(4, 3, 0), kHostOf, {0, 1, 2, 3}), 1);
  gather::Captured traffic = joined(4, 9, 0);
  traffic.flows.pop_back();
  EXPECT_EQ(ranks_by_mesh(traffic, kHostOf, {0, 1, 2, 3}), 1);
  EXPECT_EQ(ranks_by_mesh(joined(2, 4, 0), kHostOf, {0, 1}), 1);
}

// Finished connections without data are only counted.
TEST(RanksByMesh, IncludesFlowsThatWereOnlyCounted) {
  gather::Captured traffic = joined(4, 3, 0);
  for (std::uint32_t a = 1; a <= 4; ++a) {
    for (std::uint32_t b = 1; b <= 4; ++b) {
      if (a != b) traffic.pairs.push_back({.source = a, .destination = b, .retired_flows = 1});
    }
  }
  EXPECT_EQ(ranks_by_mesh(traffic, kHostOf, {0, 1, 2, 3}), 2);
}

}  // namespace
}  // namespace tw::recognise
