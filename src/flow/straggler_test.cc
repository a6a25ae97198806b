// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/straggler.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::flow {
namespace {

// Six hosts, the link out of 3 is slow: 1, 4 and 0 follow it and begin when they have computed; 2
// and 5 are ahead of it.
TEST(RingStarters, AreTheHostsAfterTheSlowLinkAndExcuseThoseThatAreAhead) {
  const std::vector<int> order{5, 3, 1, 4, 0, 2};
  const std::vector<Starter> starters = ring_starters(order, 3, 0.1);
  ASSERT_EQ(starters.size(), 5);
  const std::vector<int> hosts{1, 4, 0, 2, 5};
  const std::vector<double> explained{0, 0, 0, 0.2, 0.2};
  for (std::size_t i = 0; i < starters.size(); ++i) {
    EXPECT_EQ(starters[i].host, hosts[i]);
    EXPECT_DOUBLE_EQ(starters[i].explained_s, explained[i]);
  }
}

}  // namespace
}  // namespace tw::flow
