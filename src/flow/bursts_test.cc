// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/bursts.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tw::flow {
namespace {

Burst burst(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t bytes = 1) {
  return {.start_ns = start_ns, .end_ns = end_ns, .bytes = bytes, .packets = 1};
}

TEST(Bursts, AreSortedWhateverPartsTheyComeIn) {
  Random random(7, "bursts");
  for (std::size_t parts = 0; parts < 20; ++parts) {
    std::vector<Burst> bursts;
    for (std::size_t part = 0; part < parts; ++part) {
      std::int64_t time = 0;
      for (std::uint64_t i = random.below(6); i > 0; --i) {
        time += static_cast<std::int64_t>(random.below(3));  // some start together
        bursts.push_back(burst(time, time + 1, bursts.size()));
      }
    }
    std::vector<Burst> expected = bursts;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Burst& a, const Burst& b) { return a.start_ns < b.start_ns; });
    sort_by_start(bursts);
    ASSERT_EQ(bursts.size(), expected.size());
    for (std::size_t i = 0; i < bursts.size(); ++i) EXPECT_EQ(bursts[i].bytes, expected[i].bytes);
  }
}

TEST(Bursts, AreJoinedAcrossPausesOfAtMostTheGap) {
  // Pauses of 10 and 11; the second burst lies inside the first.
  std::vector<Burst> bursts{burst(0, 100), burst(20, 30), burst(110, 120), burst(131, 140)};
  join_bursts(bursts, 10);
  ASSERT_EQ(bursts.size(), 2u);
  EXPECT_EQ(bursts[0].end_ns, 120);
  EXPECT_EQ(bursts[0].bytes, 3u);
  EXPECT_EQ(bursts[0].packets, 3u);
  EXPECT_EQ(bursts[1].start_ns, 131);
}

}  // namespace
}  // namespace tw::flow
