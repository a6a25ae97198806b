// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/capture.h"

#include <gmock/gmock.h>

namespace tw::summarise {
namespace {

using testing::DoubleEq;

constexpr std::int64_t kMillisecond = 1'000'000;

/// Addresses ::, 10.0.0.1, 10.0.0.2, 10.0.0.3.
gather::Captured three_addresses() {
  gather::Captured traffic{};
  traffic.addresses.emplace_back();
  for (std::uint32_t i = 1; i <= 3; ++i) {
    traffic.addresses.push_back(packet::v4_address(0x0a000000 + i));
  }
  return traffic;
}

flow::Flow flow_between(std::uint32_t from, std::uint32_t to) {
  flow::Flow flow{};
  flow.key = {
      .source = from, .destination = to, .source_port = 1, .destination_port = 2, .protocol = 6};
  return flow;
}

TEST(HostNames, AddressesOfAHostShareItsName) {
  const gather::Captured traffic = three_addresses();
  diagnose::Analysis analysis{};
  analysis.hosts = {{.name = "worker0", .addresses = {1, 3}}};
  const HostNames names(traffic, analysis);
  EXPECT_EQ(names.name_of(1), "worker0");
  EXPECT_EQ(names.host_of(1), names.host_of(3));
  EXPECT_EQ(names.name_of(2), "10.0.0.2");
}

TEST(HostPairs, AddUpOverAddresses) {
  gather::Captured traffic = three_addresses();
  traffic.pairs = {{.source = 1, .destination = 2, .packets = 1, .wire_bytes = 100},
                   {.source = 3, .destination = 2, .packets = 2, .wire_bytes = 200},
                   {.source = 2, .destination = 1, .packets = 9, .wire_bytes = 400}};
  diagnose::Analysis analysis{};
  analysis.hosts = {{.name = "worker0", .addresses = {1, 3}}};
  const HostNames names(traffic, analysis);
  const std::vector<HostPair> pairs = host_pairs(traffic, names);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].count.wire_bytes, 400u);
  EXPECT_EQ(pairs[1].count.wire_bytes, 300u);
  EXPECT_EQ(pairs[1].count.packets, 3u);
}

TEST(RateFigures, PeakIsOverTenMilliseconds) {
  // 1 MB in each of ten 1 ms windows, all within one of 10 ms: 10 MB * 8 / 10 ms = 8 Gbit/s. The
  // capture lasts 1 s: mean 80 Mbit/s.
  gather::Captured traffic = three_addresses();
  traffic.clock = {.origin_ns = 0, .width_ns = kMillisecond};
  traffic.totals.wire_bytes = 10'000'000;
  traffic.totals.last_ns = 1000 * kMillisecond;
  flow::Flow flow = flow_between(1, 2);
  flow.wire_bytes = 10'000'000;
  for (int i = 0; i < 10; ++i) {
    flow.series.add(traffic.clock, (100 + i) * kMillisecond, 1'000'000);
    traffic.series.add(traffic.clock, (100 + i) * kMillisecond, 1'000'000);
  }
  traffic.flows = {flow};
  const diagnose::Analysis analysis{};
  const RateFigures figures = rate_figures(traffic, HostNames(traffic, analysis));
  EXPECT_EQ(figures.window_ns, 10 * kMillisecond);
  EXPECT_THAT(figures.peak_bps, DoubleEq(8e9));
  EXPECT_THAT(figures.mean_bps, DoubleEq(80e6));
  EXPECT_EQ(figures.busiest_host, "10.0.0.1");
  EXPECT_TRUE(figures.busiest_sends);
  EXPECT_THAT(figures.busiest_peak_bps, DoubleEq(8e9));
}

TEST(CollectiveTiming, FollowsNcclTests) {
  // 8 MB in 10 ms: 6.4 Gbit/s; a ring of four moves 2 * 3/4 of it over each link: 9.6 Gbit/s.
  diagnose::Analysis analysis{};
  for (int i = 0; i < 5; ++i) {
    analysis.iterations.steps.push_back({.start_ns = 0,
                                         .end_ns = 0,
                                         .exchange_start_ns = 5 * kMillisecond,
                                         .exchange_end_ns = 15 * kMillisecond,
                                         .bytes = 0,
                                         .packets = 0});
  }
  analysis.collectives = {{.operation = "all_reduce",
                           .strategy = "ring",
                           .order = {"a", "b", "c", "d"},
                           .bytes_per_iteration = 8'000'000,
                           .confidence = 1,
                           .evidence = ""},
                          {.operation = "broadcast",
                           .strategy = "tree",
                           .order = {"a", "b"},
                           .bytes_per_iteration = 1000,
                           .confidence = 1,
                           .evidence = ""}};
  const auto timing = timing_of(analysis.collectives[0], analysis);
  ASSERT_TRUE(timing);
  EXPECT_THAT(timing->algbw_bps, DoubleEq(6.4e9));
  EXPECT_THAT(timing->busbw_bps, DoubleEq(9.6e9));
  EXPECT_FALSE(timing_of(analysis.collectives[1], analysis));
  // A model that is sent once before the steps: their exchanges say nothing about it.
  analysis.collectives[1].bytes_per_iteration = 8'000'500;
  EXPECT_TRUE(timing_of(analysis.collectives[0], analysis));
  EXPECT_FALSE(timing_of(analysis.collectives[1], analysis));
}

TEST(ClassCounts, CountSmallFinishedFlows) {
  gather::Captured traffic{};
  traffic.retired_flows = 10;
  traffic.retired_tiny_flows = 7;
  diagnose::Analysis analysis{};
  analysis.classes = {diagnose::FlowClass::Gradient, diagnose::FlowClass::Control,
                      diagnose::FlowClass::Acknowledgement};
  const record::FlowClasses counts = class_counts(traffic, analysis);
  EXPECT_EQ(counts.sum(), 13u);
  EXPECT_EQ(counts.control, 4u);
  EXPECT_EQ(counts.tiny, 7u);
}

TEST(Dropped, IsUnknownUntilAFileSays) {
  gather::Captured traffic{};
  traffic.files.resize(3);
  EXPECT_EQ(dropped(traffic), std::nullopt);
  traffic.files[1].dropped = 5;
  EXPECT_EQ(dropped(traffic), 5u);
}

}  // namespace
}  // namespace tw::summarise
