// SPDX-License-Identifier: Apache-2.0
#include "trainwire/usage/shares.h"

#include "trainwire/spec/parse.h"
#include "trainwire/usage/links.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::usage {
namespace {

network::NetPlan dumbbell() {
  const spec::Vocabulary words{};
  return network::make_plan(
      spec::parse("[network]\nhosts = 4\ntopology = \"dumbbell\"", "x.toml", words, {}));
}

// Hosts 0 and 1 are on the left. Only what crosses shares the core.
TEST(Shares, AreOfWhatEachSentAlongItsPaths) {
  const network::NetPlan plan = dumbbell();
  record::Network network = described(plan, {});
  const std::vector<Sent> all{{.by = "a", .from = 0, .to = 2, .bytes = 300},
                              {.by = "b", .from = 1, .to = 3, .bytes = 100},
                              {.by = "b", .from = 1, .to = 0, .bytes = 1000}};
  share(network, plan, all);
  const record::Link& core = network.links[8];
  ASSERT_EQ(core.name, "core");
  const std::vector<record::LinkShare> expected{{.of = "a", .bytes = 300, .share = 0.75},
                                                {.of = "b", .bytes = 100, .share = 0.25}};
  EXPECT_EQ(core.shares, expected);
  EXPECT_TRUE(network.links[9].shares.empty());
  ASSERT_EQ(network.links[2].shares.size(), 1U);
  EXPECT_EQ(network.links[2].shares[0].bytes, 1100);
}

TEST(Shares, OfOneAloneAreNone) {
  const network::NetPlan plan = dumbbell();
  record::Network network = described(plan, {});
  share(network, plan, std::vector<Sent>{{.by = "a", .from = 0, .to = 2, .bytes = 300}});
  EXPECT_TRUE(network.links[8].shares.empty());
}

}  // namespace
}  // namespace tw::usage
