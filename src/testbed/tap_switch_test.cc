// SPDX-License-Identifier: Apache-2.0
// The switch's input and output without privileges: a pair of sockets that keep packets apart
// stands in for a TAP device. tap_namespace_test.cc has the real ones.

#include "trainwire/testbed/tap_switch.h"

#include "trainwire/fabric/test_packets.h"
#include "trainwire/network/test_plans.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace tw::testbed {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A switch in a thread between stand-ins of devices.
class Bench {
 public:
  explicit Bench(const std::string& network)
      : plan(network::plan_of(network)),
        counters(plan.ports.size()),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
      int pair[2] = {};
      ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair);
      taps_.emplace_back(pair[0]);
      hosts.emplace_back(pair[1]);
    }
    thread_ = std::jthread([this] { run_tap_switch(plan, taps_, counters, stop_); });
  }
  ~Bench() { stop(); }

  void stop() {
    EXPECT_EQ(::eventfd_write(stop_.get(), 1), 0);
    if (thread_.joinable()) thread_.join();
  }

  void send(int from, const fabric::Packet& packet) {
    const int fd = hosts[static_cast<std::size_t>(from)].get();
    EXPECT_EQ(::write(fd, packet.data(), packet.size()), static_cast<ssize_t>(packet.size()));
  }

  /// The next packet that a host gets, empty when none comes in that time.
  fabric::Packet receive(int host, milliseconds patience = milliseconds(2000)) {
    pollfd waiting{
        .fd = hosts[static_cast<std::size_t>(host)].get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1) return {};
    fabric::Packet packet(70'000);
    const ssize_t got = ::read(waiting.fd, packet.data(), packet.size());
    packet.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return packet;
  }

  network::NetPlan plan;
  EngineCounters counters;
  std::vector<os::FileDescriptor> hosts;

 private:
  std::vector<os::FileDescriptor> taps_;
  os::FileDescriptor stop_;
  std::jthread thread_;
};

TEST(TapSwitch, HandsPacketsOfAllSizesOverUnchanged) {
  Bench bench("hosts = 2\nrate = \"10Gbit\"\nqueue = \"1MB\"");
  for (const int payload : {0, 1, 1446, 8946, 40'000, 65'000}) {
    const fabric::Packet packet =
        fabric::make_packet({.payload = payload, .segment = payload > 9000 ? 1446 : 0});
    bench.send(0, packet);
    EXPECT_EQ(bench.receive(1), packet) << payload;
  }
}

TEST(TapSwitch, HoldsPacketsForTheDelayOfBothPorts) {
  Bench bench("hosts = 2\ndelay = \"10ms\"");
  const auto begin = steady_clock::now();
  bench.send(0, fabric::make_packet({}));
  EXPECT_FALSE(bench.receive(1).empty());
  EXPECT_GE(steady_clock::now() - begin, milliseconds(20));
  EXPECT_GT(bench.counters.lateness().quantile_ns(1), 0);
}

TEST(TapSwitch, KeepsTheOrderOfPackets) {
  Bench bench("hosts = 2\njitter = \"1ms\"\ndelay = \"3ms\"\nqueue = \"2MB\"");
  for (std::uint32_t i = 0; i < 100; ++i) bench.send(0, fabric::make_packet({.sequence = i}));
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(bench.receive(1), fabric::make_packet({.sequence = i}));
  }
}

TEST(TapSwitch, GivesABroadcastToAllOthers) {
  Bench bench("hosts = 3");
  bench.send(1, fabric::make_arp());
  EXPECT_EQ(bench.receive(0), fabric::make_arp());
  EXPECT_EQ(bench.receive(2), fabric::make_arp());
  EXPECT_TRUE(bench.receive(1, milliseconds(5)).empty());
}

// Nobody reads host 1's packets: its socket fills up, and what does not go in is counted.
TEST(TapSwitch, CountsWhatADeviceDoesNotTake) {
  Bench bench("hosts = 2\nrate = \"100Gbit\"\nqueue = \"100MB\"\nallow_shallow_queue = true");
  const fabric::Packet packet = fabric::make_packet({.payload = 60'000, .segment = 1446});
  const auto& port = bench.counters.ports()[3];
  const auto patience = steady_clock::now() + std::chrono::seconds(5);
  while (port.dropped == 0 && steady_clock::now() < patience) {
    const int fd = bench.hosts[0].get();
    if (::write(fd, packet.data(), packet.size()) < 0) std::this_thread::yield();
  }
  EXPECT_GT(port.dropped, 0);
  EXPECT_EQ(port.dropped % 42, 0);  // 60,000 / 1446 segments each
}

TEST(TapSwitch, GoesOnWithoutADeviceThatDisappears) {
  Bench bench("hosts = 3");
  bench.hosts[2].close("host 2");
  rusage before = {}, after = {};
  ::getrusage(RUSAGE_SELF, &before);
  std::this_thread::sleep_for(milliseconds(100));
  ::getrusage(RUSAGE_SELF, &after);
  bench.send(0, fabric::make_arp());
  EXPECT_EQ(bench.receive(1), fabric::make_arp());
  // A switch that saw the closed end again and again would have used most of these 100 ms.
  const auto used_us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1'000'000 +
                       (after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                       (after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1'000'000 +
                       (after.ru_stime.tv_usec - before.ru_stime.tv_usec);
  EXPECT_LT(used_us, 50'000);
}

TEST(TapSwitch, StopsWithPacketsInFlight) {
  Bench bench("hosts = 2\ndelay = \"10s\"");
  bench.send(0, fabric::make_packet({}));
  const auto begin = steady_clock::now();
  bench.stop();
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(TapSwitch, NeedsADevicePerHost) {
  const network::NetPlan plan = network::plan_of("hosts = 2");
  EngineCounters counters(plan.ports.size());
  const std::vector<os::FileDescriptor> taps(1);
  EXPECT_THROW(run_tap_switch(plan, taps, counters, {}), std::logic_error);
}

TEST(TapSwitch, RefusesADescriptorThatIsNotOpen) {
  const network::NetPlan plan = network::plan_of("hosts = 1");
  EngineCounters counters(plan.ports.size());
  const std::vector<os::FileDescriptor> taps(1);
  EXPECT_THROW(run_tap_switch(plan, taps, counters, {}), SystemError);
}

}  // namespace
}  // namespace tw::testbed
