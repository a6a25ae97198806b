// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/network_text.h"

#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::text {
namespace {

using testing::HasSubstr;

network::NetPlan plan_of(const std::string& network) {
  const spec::Vocabulary words{};
  return network::make_plan(spec::parse("[network]\n" + network, "x.toml", words, {}));
}

testbed::PathCheck measured(const network::NetPlan& plan, int from, int to, double rate_bps) {
  measure::PathMeasurement found;
  found.rate.carried = BitRate(rate_bps);
  found.round_trip.median = std::chrono::milliseconds(4);
  found.loss = {.sent = 2000, .received = 2000};
  return testbed::judge({from, to}, testbed::expectation(plan, {from, to}), found);
}

TEST(PlanText, NamesHostsLinksAndQueues) {
  const std::string text = plan_text(
      plan_of("hosts = 2\nrate = \"100Mbit\"\ndelay = \"1ms\"\njitter = \"2ms\"\nloss = 0.01\n"
              "queue = \"1bdp\""),
      spec::Engine::Tap);
  EXPECT_THAT(text, HasSubstr("2 hosts, 1 switch, MTU 1500, TCP cubic, engine tap"));
  EXPECT_THAT(text, HasSubstr("host1    10.77.0.2/16"));
  // 1 bdp: 100 Mbit/s * 4 ms.
  EXPECT_THAT(
      text,
      HasSubstr("    switch > host0      100 Mbit/s      1 ms      1 %      50 kB  jitter 2 ms"));
}

TEST(PlanText, AManyHostsNetworkIsCutShort) {
  const std::string text = plan_text(plan_of("hosts = 200"), spec::Engine::Nfqueue);
  EXPECT_THAT(text, HasSubstr("... and 160 more"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 140);
}

TEST(CheckText, PutsAskedBesideFound) {
  const network::NetPlan plan = plan_of("hosts = 2\nrate = \"100Mbit\"\ndelay = \"1ms\"");
  const std::string text =
      check_text(plan, {measured(plan, 0, 1, 100e6), measured(plan, 1, 0, 50e6)});
  EXPECT_THAT(text, HasSubstr("host0 > host1        100 Mbit/s   100 Mbit/s        4 ms        4 "
                              "ms      0 %      0 %  ok"));
  EXPECT_THAT(text, HasSubstr("refused"));
  EXPECT_THAT(text,
              HasSubstr("host1 > host0: the rate is 50 Mbit/s instead of 100 Mbit/s (-50.0 %)"));
}

}  // namespace
}  // namespace tw::text
