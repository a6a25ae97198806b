// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/fabric.h"

#include "trainwire/fabric/test_packets.h"
#include "trainwire/network/test_plans.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>

namespace tw::fabric {
namespace {

constexpr network::Mac kEverybody = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
constexpr std::int64_t kLongAfter = 1'000'000'000'000;

struct Bench {
  explicit Bench(const std::string& network, std::size_t memory = 100'000'000,
                 VirtualPort::Queue host_queues = VirtualPort::Queue::InKernel)
      : plan(network::plan_of(network)),
        counters(plan.ports.size()),
        pool(memory),
        fabric(plan, counters, pool, host_queues) {}

  /// A host sends a frame of that many bytes.
  void send(int from, const network::Mac& to, int frame_bytes, std::int64_t at_ns) {
    fabric.enter(from, *pool.copy(make_packet({.payload = frame_bytes - 54, .to = to})), at_ns);
  }
  void send(int from, int to, int frame_bytes, std::int64_t at_ns) {
    send(from, plan.hosts[static_cast<std::size_t>(to)].mac, frame_bytes, at_ns);
  }

  /// Host and time of all that arrives.
  std::vector<std::pair<int, std::int64_t>> arrivals(std::int64_t until_ns = kLongAfter) {
    std::vector<std::pair<int, std::int64_t>> all;
    while (const auto arrival = fabric.next_arrival(until_ns)) {
      all.emplace_back(arrival->host, arrival->frame.time_ns);
    }
    return all;
  }

  network::NetPlan plan;
  std::vector<PortCounters> counters;
  BufferPool pool;
  Fabric fabric;
};

using Arrivals = std::vector<std::pair<int, std::int64_t>>;

// Two lines of 8 ns a byte and two delays.
TEST(TapFabric, APacketPassesBothPortsOfAStar) {
  Bench bench("hosts = 3\nrate = \"1Gbit\"\ndelay = \"5ms\"");
  bench.send(0, 2, 1000, 0);
  EXPECT_EQ(bench.fabric.next_ns(), 5'008'000);
  EXPECT_EQ(bench.arrivals(10'015'999), Arrivals());
  EXPECT_EQ(bench.arrivals(10'016'000), (Arrivals{{2, 10'016'000}}));
  EXPECT_EQ(bench.fabric.next_ns(), std::nullopt);
  EXPECT_EQ(bench.counters[0].packets, 1);
  EXPECT_EQ(bench.counters[5].packets, 1);
  EXPECT_EQ(bench.counters[2].packets, 0);
}

TEST(TapFabric, APacketPassesAllPortsOfALeafSpine) {
  Bench bench(
      "hosts = 4\ntopology = \"leafspine\"\nleaves = 2\nspines = 2\nrate = \"1Gbit\"\n"
      "delay = \"1ms\"");
  bench.send(0, 3, 1000, 0);
  std::int64_t expected = 0;
  for (const int port : bench.plan.path(0, 3)) {
    const network::Port& passed = bench.plan.ports[static_cast<std::size_t>(port)];
    expected += (1000_B / passed.rate + passed.delay).count();
    EXPECT_EQ(bench.plan.path(0, 3).size(), 4);
  }
  EXPECT_EQ(bench.arrivals(), (Arrivals{{3, expected}}));
  for (const int port : bench.plan.path(0, 3)) {
    EXPECT_EQ(bench.counters[static_cast<std::size_t>(port)].packets, 1);
  }
}

// 1,100 packets of 1,514 bytes at once, and room for 1,000, the one on the line included, as hosts
// have: with the queue here 1,000 leave, with a kernel before the host's line all of them.
TEST(TapFabric, AHostsOwnQueueIsHereWhereNoKernelHasIt) {
  for (const auto& [queues, expected] :
       {std::pair(VirtualPort::Queue::Here, 1000), std::pair(VirtualPort::Queue::InKernel, 1100)}) {
    Bench bench(
        "hosts = 2\nqueue = \"2MB\"\n[[network.link]]\nat = \"host0\"\ndirection = "
        "\"from_host\"\nqueue = \"31794B\"",
        100'000'000, queues);
    for (int i = 0; i < 1100; ++i) bench.send(0, 1, 1514, 0);
    EXPECT_EQ(bench.arrivals().size(), expected);
    EXPECT_EQ(bench.counters[0].dropped, 1100 - expected);
  }
}

// Two senders meet at host 2's port: the second waits for the first, 8 us later.
TEST(TapFabric, PacketsOfTwoSendersShareAPort) {
  Bench bench("hosts = 3\nrate = \"1Gbit\"\ndelay = \"1ms\"");
  bench.send(0, 2, 1000, 0);
  bench.send(1, 2, 1000, 0);
  EXPECT_EQ(bench.arrivals(), (Arrivals{{2, 2'016'000}, {2, 2'024'000}}));
}

// Host 0 has a delay of 5 ms on its link, host 1 none: who sends later arrives earlier.
TEST(TapFabric, MovesPacketsInTheOrderOfTime) {
  Bench bench(
      "hosts = 3\nrate = \"1Gbit\"\ndelay = \"0ms\"\n"
      "[[network.link]]\nat = \"host0\"\ndirection = \"from_host\"\ndelay = \"5ms\"");
  bench.send(0, 2, 1000, 0);
  bench.send(1, 2, 1000, 1'000'000);
  EXPECT_EQ(bench.arrivals(), (Arrivals{{2, 1'016'000}, {2, 5'016'000}}));
}

// Hosts 0 and 1 on the left, 2 to 4 on the right: host 0's line and the core carry one copy, each
// of the others' lines one.
TEST(TapFabric, ABroadcastCrossesEachLineOnce) {
  Bench bench("hosts = 5\ntopology = \"dumbbell\"\nleft = 2\nrate = \"1Gbit\"");
  bench.send(0, kEverybody, 1000, 0);
  std::vector<int> hosts;
  for (const auto& [host, time] : bench.arrivals()) hosts.push_back(host);
  std::sort(hosts.begin(), hosts.end());
  EXPECT_EQ(hosts, (std::vector<int>{1, 2, 3, 4}));
  for (std::size_t i = 0; i < bench.plan.ports.size(); ++i) {
    const network::Port& port = bench.plan.ports[i];
    const bool away = port.from == 0 || (port.to < 5 && port.to != 0) ||
                      (port.link == "core" && port.direction == spec::Direction::FromHost);
    EXPECT_EQ(bench.counters[i].packets, away ? 1 : 0) << port.link;
  }
}

TEST(TapFabric, ForgetsWhatIsForNobody) {
  Bench bench("hosts = 2");
  bench.send(0, network::Mac{2, 9, 9, 9, 9, 9}, 1000, 0);
  bench.send(0, 0, 1000, 0);
  bench.fabric.enter(0, *bench.pool.copy(Packet(kOffloadBytes + 13)), 0);
  bench.fabric.enter(0, *bench.pool.copy({}), 0);
  EXPECT_EQ(bench.arrivals(), Arrivals());
  EXPECT_EQ(bench.counters[0].packets, 0);
  EXPECT_EQ(bench.pool.held_bytes(), 0);
}

TEST(TapFabric, AHostAloneReachesNobody) {
  Bench bench("hosts = 1");
  bench.send(0, kEverybody, 1000, 0);
  bench.fabric.refuse(0, make_packet({.payload = 100}));
  EXPECT_EQ(bench.arrivals(), Arrivals());
}

TEST(TapFabric, CountsWhatItRefusesAtTheHostsOwnPort) {
  Bench bench("hosts = 2");
  bench.fabric.refuse(1, make_packet({.payload = 4000, .segment = 1000}));
  EXPECT_EQ(bench.counters[2].packets, 4);
  EXPECT_EQ(bench.counters[2].dropped, 4);
}

// Room for two small buffers: the broadcast to three hosts gets one copy beside itself.
TEST(TapFabric, CountsCopiesItCannotHold) {
  Bench bench("hosts = 4", 4096);
  bench.send(0, kEverybody, 1000, 0);
  EXPECT_EQ(bench.arrivals().size(), 1);
  EXPECT_EQ(bench.counters[3].dropped + bench.counters[5].dropped + bench.counters[7].dropped, 2);
}

// Every packet is lost, dropped or arrives; three hosts send to all others through a small queue.
TEST(TapFabric, NothingDisappearsUncounted) {
  Bench bench(
      "hosts = 4\nrate = \"100Mbit\"\nqueue = \"20kB\"\nloss = \"5%\"\ndelay = \"1ms\"\n"
      "jitter = \"200us\"\nallow_shallow_queue = true");
  std::uint64_t sent = 0;
  for (int round = 0; round < 200; ++round) {
    for (int from = 0; from < 3; ++from) {
      const network::Mac to = bench.plan.hosts[static_cast<std::size_t>(round % 4)].mac;
      if (round % 4 == from) continue;
      const Packet packet = make_packet({.payload = 20'000, .segment = 1446, .to = to});
      bench.fabric.enter(from, *bench.pool.copy(packet), round * std::int64_t{1'000'000});
      sent += 14;
    }
  }
  std::uint64_t arrived = 0;
  while (const auto arrival = bench.fabric.next_arrival(kLongAfter)) {
    arrived += static_cast<std::uint64_t>(arrival->frame.segments.count);
  }
  std::uint64_t gone = 0;
  for (const PortCounters& port : bench.counters) gone += port.lost + port.dropped;
  EXPECT_EQ(arrived + gone, sent);
  EXPECT_GT(gone, sent / 20);
  EXPECT_EQ(bench.pool.held_bytes(), 0);
}

TEST(TapFabric, NeedsCountersForItsPorts) {
  const network::NetPlan plan = network::plan_of("hosts = 2");
  std::vector<PortCounters> counters(3);
  BufferPool pool(1000);
  EXPECT_THROW(Fabric(plan, counters, pool), std::logic_error);
}

}  // namespace
}  // namespace tw::fabric
