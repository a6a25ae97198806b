// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/hold_rules.h"

#include "trainwire/network/test_plans.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tw::testbed {
namespace {

using std::chrono::milliseconds;

/// One device per host of a star: number 10 + host.
std::vector<SwitchDevice> star_devices(const network::NetPlan& plan) {
  std::vector<SwitchDevice> devices;
  const auto hosts = static_cast<int>(plan.hosts.size());
  for (int host = 0; host < hosts; ++host) {
    devices.push_back({.name = plan.hosts[static_cast<std::size_t>(host)].name,
                       .index = 10 + host,
                       .node = hosts,
                       .arriving = 2 * host,
                       .departing = 2 * host + 1});
  }
  return devices;
}

TEST(Holds, OneQueueWhereAllLinksAreAlike) {
  const network::NetPlan plan = network::plan_of("hosts = 4\ndelay = \"5ms\"");
  const std::vector<Hold> holds = make_holds(plan, star_devices(plan));
  // Two links of 5 ms.
  EXPECT_EQ(holds, (std::vector<Hold>{{.queue = 0, .time = milliseconds(10)}}));
}

TEST(Holds, NothingToDoWithoutDelayAndLoss) {
  const network::NetPlan plan = network::plan_of("hosts = 2\ndelay = 0");
  EXPECT_TRUE(make_holds(plan, star_devices(plan)).empty());
  const network::NetPlan lossy = network::plan_of("hosts = 2\ndelay = 0\nloss = 0.01");
  EXPECT_EQ(make_holds(lossy, star_devices(lossy)).size(), 1);
}

TEST(Holds, ExceptionsComeFirst) {
  const network::NetPlan plan = network::plan_of(
      "hosts = 4\ndelay = \"1ms\"\n[[network.link]]\nat = \"host2\"\ndirection = \"from_host\"\n"
      "delay = \"20ms\"\n[[network.link]]\nat = \"host3\"\ndirection = \"to_host\"\ndelay = "
      "\"3ms\"");
  const std::vector<Hold> holds = make_holds(plan, star_devices(plan));
  ASSERT_EQ(holds.size(), 4);
  EXPECT_EQ(holds[0], (Hold{.in = 12,
                            .in_name = "host2",
                            .out = 13,
                            .out_name = "host3",
                            .queue = 0,
                            .time = milliseconds(23)}));
  EXPECT_EQ(holds[1], (Hold{.in = 12, .in_name = "host2", .queue = 1, .time = milliseconds(21)}));
  EXPECT_EQ(holds[2], (Hold{.out = 13, .out_name = "host3", .queue = 2, .time = milliseconds(4)}));
  EXPECT_EQ(holds[3], (Hold{.queue = 3, .time = milliseconds(2)}));
}

}  // namespace
}  // namespace tw::testbed
