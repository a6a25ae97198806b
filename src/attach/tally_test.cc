// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/tally.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tw::attach {
namespace {

using testing::SizeIs;

Connection connection(std::uint64_t inode, std::uint64_t sent, double busy_s) {
  return {.inode = inode,
          .local = "10.0.0.1",
          .remote = "10.0.0.2",
          .sent_bytes = sent,
          .busy_s = busy_s};
}

TEST(Tally, WhatWasBeforeDoesNotCount) {
  Tally tally;
  tally.look({connection(1, 1000, 5)});
  tally.look({connection(1, 1500, 5.5)});
  // Made meanwhile: all of it counts.
  tally.look({connection(1, 1600, 5.6), connection(2, 40, 0.3)});
  const Way& way = tally.sums().ways.at({"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(way.sent_bytes, 640U);
  EXPECT_EQ(way.connections, 2U);
  EXPECT_DOUBLE_EQ(way.busy_s, 0.5 + 0.3);  // of the busiest at each look
  tally.look({});
  EXPECT_EQ(way.connections, 0U);
  EXPECT_EQ(way.sent_bytes, 640U);
}

TEST(Tally, TheRoundTripOfAConnectionThatEndedStays) {
  Tally tally;
  Connection slow = connection(1, 1000, 5);
  slow.round_trip_s = 0.004;
  tally.look({slow});
  slow.round_trip_s = 0.003;
  tally.look({slow});
  tally.look({});
  EXPECT_DOUBLE_EQ(tally.sums().ways.at({"10.0.0.1", "10.0.0.2"}).round_trip_s, 0.003);
}

TEST(Tally, WaysAreNotWithoutEnd) {
  Tally tally;
  std::vector<Connection> many;
  for (std::size_t i = 0; i < 3 * Tally::kMostWays; ++i) {
    many.push_back({.inode = i, .local = "a", .remote = fmt::format("b{}", i)});
  }
  tally.look({});
  for (Connection& each : many) each.sent_bytes = 1;
  tally.look(many);
  EXPECT_THAT(tally.sums().ways, SizeIs(Tally::kMostWays + 1));
  EXPECT_EQ(tally.sums().ways.at({"", ""}).sent_bytes, 2 * Tally::kMostWays);
}

TEST(Tally, DevicesHaveSumsPeaksAndFullness) {
  Tally tally;
  const std::map<std::string, double> rates{{"eth0", 8000}};
  tally.sample(0, {{"eth0", {.sent = 1000}}}, rates);
  tally.sample(0.5, {{"eth0", {.sent = 1000}}}, rates);
  tally.sample(1, {{"eth0", {.received = 10, .sent = 1500, .dropped = 2}}}, rates);
  const Device& device = tally.sums().devices.at("eth0");
  EXPECT_EQ(device.counts, (DeviceCounts{.received = 10, .sent = 500, .dropped = 2}));
  EXPECT_DOUBLE_EQ(device.peak_sent_bps, 8000);
  EXPECT_DOUBLE_EQ(device.full_s, 0.5);
  EXPECT_DOUBLE_EQ(device.active_s, 0.5);
  // A device that was made anew counts from 0.
  tally.sample(1.5, {{"eth0", {.sent = 100}}}, rates);
  EXPECT_EQ(device.counts.sent, 600U);
}

TEST(Tally, AWindowIsWhatHappenedSince) {
  Tally tally;
  tally.look({connection(1, 0, 0)});
  tally.look({connection(1, 100, 1)});
  tally.rdma({{"m/1 x", 5}});
  const Sums before = tally.sums();
  tally.look({connection(1, 130, 1.5)});
  tally.rdma({{"m/1 x", 7}});
  const Sums window = difference(tally.sums(), before);
  EXPECT_EQ(window.ways.begin()->second.sent_bytes, 30U);
  EXPECT_DOUBLE_EQ(window.ways.begin()->second.busy_s, 0.5);
  EXPECT_EQ(window.rdma.at("m/1 x"), 2U);
}

}  // namespace
}  // namespace tw::attach
