// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/shapes.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>

namespace tw::lab {
namespace {

network::NetPlan plan_of(const std::string& network) {
  return network::make_plan(spec::parse("[network]\n" + network, "x.toml", {}, {}));
}

TEST(Shapes, AreEachHostsTwoDirections) {
  const auto shapes = shapes_of(plan_of(R"(
hosts = 3
rate = "1Gbit"
delay = "50us"
[[network.link]]
at = "host1"
direction = "to_host"
rate = "100Mbit"
delay = "2ms"
)"));
  ASSERT_EQ(shapes.size(), 3U);
  EXPECT_DOUBLE_EQ(shapes[0].out.rate_bps, 1e9);
  EXPECT_DOUBLE_EQ(shapes[1].out.rate_bps, 1e9);
  EXPECT_DOUBLE_EQ(shapes[1].in.rate_bps, 1e8);
  EXPECT_EQ(shapes[1].in.delay_ns, 2'000'000);
  EXPECT_EQ(shapes[2].in.delay_ns, 50'000);
  EXPECT_TRUE(shapes[2].in.needs_netem());
  EXPECT_GT(shapes[0].out.limit_bytes, shapes[0].out.burst_bytes);
}

TEST(Shapes, OfLinksBetweenSwitchesAreRefused) {
  EXPECT_THROW(shapes_of(plan_of("topology = \"dumbbell\"\nhosts = 4\n")), SpecError);
}

}  // namespace
}  // namespace tw::lab
