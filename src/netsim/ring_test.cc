// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/ring.h"

#include "trainwire/base/random.h"

#include <gtest/gtest.h>

#include <deque>

namespace tw::netsim {
namespace {

TEST(Ring, ElementsKeepTheirNumbers) {
  Ring<int> ring;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ring.push(10 * i), 10 * i);
  for (int i = 0; i < 40; ++i) ring.pop();
  EXPECT_EQ(ring.begin(), 40);
  EXPECT_EQ(ring.end(), 100);
  EXPECT_EQ(ring.front(), 400);
  EXPECT_EQ(ring[99], 990);
}

// It grows while its begin lies anywhere in its memory.
TEST(Ring, IsAQueue) {
  Random random(1, "ring");
  Ring<int> ring;
  std::deque<int> queue;
  for (int i = 0; i < 20'000; ++i) {
    if (queue.empty() || random.below(9) < 5) {
      ring.push(i);
      queue.push_back(i);
    } else {
      ring.pop();
      queue.pop_front();
    }
    ASSERT_EQ(ring.size(), static_cast<std::int64_t>(queue.size()));
    if (queue.empty()) continue;
    ASSERT_EQ(ring.front(), queue.front());
    ASSERT_EQ(ring[ring.end() - 1], queue.back());
    const auto some = static_cast<std::int64_t>(random.below(queue.size()));
    ASSERT_EQ(ring[ring.begin() + some], queue[static_cast<std::size_t>(some)]);
  }
}

}  // namespace
}  // namespace tw::netsim
