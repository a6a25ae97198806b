// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/traffic_figures.h"

#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>

namespace tw::lab {
namespace {

network::NetPlan four_hosts() {
  return network::make_plan(spec::parse("[network]\nhosts = 4\nrate = \"1Gbit\"\n", "x.toml", {}));
}

/// From host3 to host0, 800 Mbit/s of frames.
CrossTraffic into_host0(const network::NetPlan& plan) {
  CrossTraffic entry;
  entry.name = "websearch from host3 to host0";
  entry.from = 3;
  entry.to = 0;
  entry.capacity = BitRate(1e9);
  entry.requested = BitRate(8e8);
  entry.payload_share = 0.5;
  entry.source.address = plan.hosts[3].address;
  entry.sink.address = plan.hosts[0].address;
  return entry;
}

traffic::Outcome outcome(std::int64_t acknowledged, std::int64_t sent) {
  return {.achieved = BitRate(3e8),
          .sent = Bytes(sent),
          .acknowledged = Bytes(acknowledged),
          .framing = Bytes(40),
          .started = 12,
          .finished = 10,
          .unfinished = 2,
          .unstarted = 3};
}

TEST(TrafficFigures, RatesAreThoseOfFrames) {
  const network::NetPlan plan = four_hosts();
  const TrafficResult traffic_result{.entries = {into_host0(plan)}, .outcomes = {outcome(1, 1)}};
  // 300 Mbit/s of payload, of which a frame holds a half.
  const record::CrossTraffic made = described(traffic_result, {});
  EXPECT_DOUBLE_EQ(made.achieved_bps, 6e8);
  EXPECT_DOUBLE_EQ(made.requested_bps, 8e8);
  EXPECT_DOUBLE_EQ(made.capacity_bps, 1e9);
  ASSERT_TRUE(made.entries.at(0).outcome);
  EXPECT_EQ(made.entries[0].outcome->flows.unstarted, 3);
}

TEST(TrafficFigures, TheWireShowsNoLessThanArrivedAndNoMoreThanWasSent) {
  const network::NetPlan plan = four_hosts();
  const TrafficResult traffic_result{.entries = {into_host0(plan)},
                                     .outcomes = {outcome(900, 1000)}};
  const auto ok_with = [&](std::int64_t seen) {
    summarise::CaptureResult result;
    result.cross_bytes[{plan.hosts[3].address, plan.hosts[0].address}] = seen;
    return traffic_check(traffic_result, result).ok;
  };
  EXPECT_TRUE(ok_with(900));
  EXPECT_TRUE(ok_with(1040));  // 40 bytes introduce the flow
  EXPECT_FALSE(ok_with(899));
  EXPECT_FALSE(ok_with(1041));
  EXPECT_FALSE(traffic_check(traffic_result, {}).ok);
}

TEST(TrafficFigures, AnswersOfASinkAreAmongWhatItsHostSends) {
  const network::NetPlan plan = four_hosts();
  CrossTraffic back = into_host0(plan);
  std::swap(back.source.address, back.sink.address);
  const TrafficResult both{.entries = {into_host0(plan), back},
                           .outcomes = {outcome(900, 1000), outcome(900, 1000)}};
  const auto ok_with = [&](std::int64_t seen) {
    summarise::CaptureResult result;
    result.cross_bytes[{plan.hosts[3].address, plan.hosts[0].address}] = seen;
    result.cross_bytes[{plan.hosts[0].address, plan.hosts[3].address}] = 950;
    return traffic_check(both, result).ok;
  };
  EXPECT_TRUE(ok_with(1048));  // 40 bytes introduce a flow, 8 answer
  EXPECT_FALSE(ok_with(1049));
}

TEST(TrafficFigures, ASourceThatToldNothingFailsTheCheck) {
  const TrafficResult traffic_result{.entries = {into_host0(four_hosts())},
                                     .outcomes = {std::nullopt}};
  EXPECT_FALSE(traffic_check(traffic_result, {}).ok);
  EXPECT_FALSE(described(traffic_result, {}).entries.at(0).outcome);
}

TEST(TrafficFigures, GradientsAreTimedWhileTheyAreSent) {
  const network::NetPlan plan = four_hosts();
  summarise::CaptureResult result;
  for (const network::HostPlan& host : plan.hosts) {
    result.traffic.addresses.push_back(packet::parse_address(host.address));
  }
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::vector<flow::Burst> bursts) {
    flow::Flow flow{.key = {.source = from,
                            .destination = to,
                            .source_port = 1,
                            .destination_port = 2,
                            .protocol = 6}};
    flow.bursts = std::move(bursts);
    result.traffic.flows.push_back(std::move(flow));
    result.analysis.classes.push_back(diagnose::FlowClass::Gradient);
  };
  constexpr std::int64_t kMs = 1'000'000;
  // 10 packets of 1000 bytes in 9 ms: 9000 bytes after the first; then a pause of 91 ms, and again.
  add(2, 0, {{0, 9 * kMs, 10'000, 10}, {100 * kMs, 109 * kMs, 10'000, 10}});
  // A pause of 1 ms is part of the sending: 19,000 bytes in 19 ms.
  add(1, 2, {{0, 9 * kMs, 10'000, 10}, {10 * kMs, 19 * kMs, 10'000, 10}});
  const auto pairs = gradient_pairs(result, plan, {into_host0(plan)});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].from, "host1");
  EXPECT_FALSE(pairs[0].shares_a_link);
  EXPECT_DOUBLE_EQ(pairs[0].sending_rate_bps, 8e6);
  EXPECT_EQ(pairs[1].to, "host0");
  EXPECT_TRUE(pairs[1].shares_a_link);
  EXPECT_DOUBLE_EQ(pairs[1].sending_rate_bps, 8e6);
}

}  // namespace
}  // namespace tw::lab
