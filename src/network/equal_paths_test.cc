// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/equal_paths.h"

#include "trainwire/network/test_networks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tw::network {
namespace {

// As many as are counted, all different, the one picked by destination among them; and the steps are
// what they take.
TEST(EqualPaths, AreAllThereAre) {
  for (const std::string& keys : varied_networks()) {
    const Network network = network_of(keys);
    const int last = network.hosts() - 1;
    for (const int to : {0, last / 2, last}) {
      const auto paths = equal_paths(network, 0, to);
      EXPECT_EQ(static_cast<std::int64_t>(paths.size()), network.path_count(0, to));
      EXPECT_EQ(std::set(paths.begin(), paths.end()).size(), paths.size());
      EXPECT_EQ(std::count(paths.begin(), paths.end(), network.path(0, to)), 1);
      const auto steps = equal_steps(network, 0, to);
      for (const auto& path : paths) {
        ASSERT_EQ(path.size(), steps.size());
        for (std::size_t i = 0; i < path.size(); ++i) {
          EXPECT_TRUE(std::binary_search(steps[i].begin(), steps[i].end(), path[i]));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tw::network
