// SPDX-License-Identifier: Apache-2.0
#include "trainwire/group/group.h"

#include "trainwire/netsim/net.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tw::group {
namespace {

using namespace std::chrono_literals;
using netsim::kMillisecond;
using netsim::PortSettings;
using netsim::seconds;

/// Hosts around one switch; host i has ports 2i to it and 2i + 1 from it. Host 0 is the hub.
struct Star {
  struct Asked {
    int hosts = 5;
    double loss = 0;
    BitRate hub = 1_Gbit;
    std::optional<double> queue = {};
  };

  explicit Star(const Asked& asked)
      : net(ports(asked), 1, {.left = {}, .came = {}}), members(asked.hosts - 1) {}

  static std::vector<PortSettings> ports(const Asked& asked) {
    std::vector<PortSettings> all;
    for (int i = 0; i < 2 * asked.hosts; ++i) {
      PortSettings port{
          .name = "host" + std::to_string(i / 2),
          .direction = i % 2 == 0 ? network::Direction::FromHost : network::Direction::ToHost,
          .rate = i / 2 == 0 ? asked.hub : 1_Gbit,
          .delay = 50us,
          .loss = asked.loss};
      if (i % 2 == 1) port.queue_bytes = asked.queue;
      all.push_back(port);
    }
    return all;
  }
  Group::Told told() {
    return {.left = [this](std::uint64_t tag, Time) { ++left[tag]; },
            .came =
                [this](std::uint64_t tag, Time now) {
                  ++arrivals;
                  came[tag] = now;
                }};
  }
  int join(const Options& options, int switch_slots = 1 << 20) {
    std::vector<Tree::Path> up;
    for (int i = 1; i <= members; ++i)
      up.push_back({.ports = {2 * i, 1}, .nodes = {i, members + 1}});
    pool.enlarge(options.sums ? switch_slots : 0);
    groups.push_back(std::make_unique<Group>(net, Tree(up), options, pool, told()));
    return static_cast<int>(groups.size()) - 1;
  }
  /// The same message of all members; its tags are from `first` on.
  void send(int group, std::int64_t bytes, std::uint64_t first = 0, Time now = 0) {
    for (int i = 0; i < members; ++i) {
      groups[static_cast<std::size_t>(group)]->send(i, bytes, first + static_cast<std::uint64_t>(i),
                                                    now);
    }
  }
  Group& group(int number) { return *groups[static_cast<std::size_t>(number)]; }
  Time last() const {
    Time last = 0;
    for (const auto& [tag, at] : came) last = std::max(last, at);
    return last;
  }
  std::int64_t payload(int port) const { return net.port(port).counts().payload_bytes; }

  std::map<std::uint64_t, int> left;
  std::map<std::uint64_t, Time> came;
  int arrivals = 0;
  netsim::Net net;
  SlotPool pool;
  std::vector<std::unique_ptr<Group>> groups;
  int members;
};

constexpr std::int64_t kBytes = 1'448'000;  // 1,000 packets, 12.112 ms of 1 Gbit/s
constexpr double kLine_s = 1000 * 1514 * 8 / 1e9;
constexpr double kFrame_s = 1514 * 8 / 1e9;
Options sums() { return {.sums = true, .round_trip = 200us}; }
Options multicasts() { return {.round_trip = 200us}; }

// Each link carries the message once; the last packet has two lines' time for a frame and two delays.
TEST(Group, SumsGoOnceOverEachLink) {
  Star star({});
  star.send(star.join(sums()), kBytes);
  star.net.advance(kMillisecond * 1000);
  EXPECT_EQ(star.arrivals, 4);
  EXPECT_EQ(star.left.size(), 4U);
  EXPECT_NEAR(seconds(star.last()), kLine_s + kFrame_s + 100e-6, 1e-7);
  for (int host = 1; host < 5; ++host) EXPECT_EQ(star.payload(2 * host), kBytes);
  EXPECT_EQ(star.payload(1), kBytes);
  EXPECT_EQ(star.pool.taken(5), 0);
}

TEST(Group, AMulticastGoesOnceOverEachLink) {
  Star star({});
  star.send(star.join(multicasts()), kBytes);
  star.net.advance(kMillisecond * 1000);
  EXPECT_EQ(star.arrivals, 4);
  EXPECT_NEAR(seconds(star.last()), kLine_s + kFrame_s + 100e-6, 1e-7);
  EXPECT_EQ(star.payload(0), kBytes);
  for (int host = 1; host < 5; ++host) EXPECT_EQ(star.payload(2 * host + 1), kBytes);
}

// One packet a round trip: 200 us of delays, two lines' time for a frame and for its answer's 66
// bytes.
TEST(Group, SlotsLimitWhatIsOnItsWay) {
  Star star({});
  Options options = sums();
  options.slots = 1;
  star.send(star.join(options), 100 * 1448);
  star.net.advance(kMillisecond * 1000);
  const double round_trip_s = 200e-6 + 2 * kFrame_s + 2 * 66 * 8 / 1e9;
  EXPECT_NEAR(seconds(star.last()), 100 * round_trip_s - 100e-6 - 2 * 66 * 8 / 1e9, 1e-6);
}

// Who is late by 30 ms makes the sum as late; meanwhile others repeat one packet now and then.
TEST(Group, TheLastContributorDecides) {
  Star star({});
  const int group = star.join(sums());
  for (int i = 0; i < 3; ++i) star.group(group).send(i, kBytes, static_cast<std::uint64_t>(i), 0);
  star.net.advance(30 * kMillisecond);
  star.groups[0]->send(3, kBytes, 3, 30 * kMillisecond);
  star.net.advance(kMillisecond * 1000);
  EXPECT_EQ(star.arrivals, 4);
  EXPECT_NEAR(seconds(star.last()), 30e-3 + kLine_s + kFrame_s + 100e-6, 50e-6);
  EXPECT_LT(star.group(group).resent(), 20);
}

// A share of 1 % of all packets is lost: everything comes, once, and nothing is added twice (the
// hub has each number from each member: otherwise it would not come). What is lost costs a packet
// of each contributor, so less than 1 + 10 times the loss on each link (eight links count).
TEST(Group, WhatIsLostIsSentAgain) {
  for (const Options& options : {sums(), multicasts()}) {
    Star star({.loss = 0.01});
    const int group = star.join(options);
    star.send(group, 10 * kBytes);
    star.net.advance(kMillisecond * 10000);
    EXPECT_EQ(star.arrivals, 4);
    EXPECT_GT(star.group(group).resent(), 0);
    EXPECT_LT(seconds(star.last()), 1.15 * 10 * kLine_s);
    EXPECT_LT(star.payload(1) + star.payload(0), 1.15 * 10 * kBytes);
    EXPECT_EQ(star.pool.taken(5), 0);
  }
}

TEST(Group, ATenthLostDoesNotHang) {
  for (const Options& options : {sums(), multicasts()}) {
    Star star({.loss = 0.1});
    const int group = star.join(options);
    for (std::uint64_t i = 0; i < 5; ++i) star.send(group, 20 * 1448 + 1, 10 * i);
    star.net.advance(kMillisecond * 100000);
    EXPECT_EQ(star.arrivals, 20);
    EXPECT_EQ(star.pool.taken(5), 0);
  }
}

// Without a single slot all packets are passed on, and the hub's link has them of four members. No
// more of them are sent than its queue holds, but for the first window, whose repair takes 20 ms.
TEST(Group, WithoutSlotsTheHubSums) {
  Star star({.queue = 256 * 1024.0});
  Options options = sums();
  options.room = 100;
  const int group = star.join(options, 0);
  star.send(group, 10 * kBytes);
  star.net.advance(kMillisecond * 10000);
  EXPECT_EQ(star.arrivals, 4);
  EXPECT_NEAR(seconds(star.last()), 40 * kLine_s, 0.06 * 40 * kLine_s);
  EXPECT_GE(star.group(group).passed(), 40000);
}

// Two groups want 64 slots each of 8 that there are: some of their packets find none.
TEST(Group, GroupsShareTheSlotsOfASwitch) {
  Star star({.queue = 256 * 1024.0});
  Options options = sums();
  options.slots = 64;
  options.room = 80;
  const int one = star.join(options, 8);
  const int other = star.join(options, 8);
  star.send(one, kBytes);
  star.send(other, kBytes, 100);
  star.net.advance(kMillisecond * 10000);
  EXPECT_EQ(star.arrivals, 8);
  EXPECT_GT(star.group(one).passed() + star.group(other).passed(), 0);
  EXPECT_GT(seconds(star.last()), 2 * kLine_s);
  EXPECT_EQ(star.pool.taken(5), 0);
}

// Two leaves of two members under a spine: three switches sum, and each link has the message once.
TEST(Group, SwitchesSumSums) {
  // Links: hosts 0..3 below leaves 5 and 6 (nodes), hub 4 at the spine 7; links 5 and 6 are the leaves'.
  std::vector<PortSettings> ports;
  for (int i = 0; i < 14; ++i) {
    ports.push_back({.name = std::to_string(i), .rate = 1_Gbit, .delay = 10us});
  }
  int arrivals = 0;
  netsim::Net net(std::move(ports), 1, {.left = {}, .came = {}});
  std::vector<Tree::Path> up;
  for (int host = 0; host < 4; ++host) {
    const int leaf = 5 + host / 2;
    up.push_back({.ports = {2 * host, 2 * leaf, 9}, .nodes = {host, leaf, 7}});
  }
  SlotPool pool;
  pool.enlarge(512);
  Group group(
      net, Tree(up), sums(), pool,
      {.left = [](std::uint64_t, Time) {}, .came = [&](std::uint64_t, Time) { ++arrivals; }});
  for (int i = 0; i < 4; ++i) group.send(i, kBytes, static_cast<std::uint64_t>(i), 0);
  net.advance(kMillisecond * 1000);
  EXPECT_EQ(arrivals, 4);
  for (const int port : {0, 2, 4, 6, 10, 12, 9}) {
    EXPECT_EQ(net.port(port).counts().payload_bytes, kBytes) << port;
  }
}

}  // namespace
}  // namespace tw::group
