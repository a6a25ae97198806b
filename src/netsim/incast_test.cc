// SPDX-License-Identifier: Apache-2.0
// Many hosts answer one at the same time (Phanishayee et al. 2008; Vasudevan et al. 2009,
// 10.1145/1592568.1592604): 1 Gbit/s, 100 us, a queue of 100 packets.
#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

struct Incast {
  Incast(int hosts, Duration least_rto) : hosts_(hosts), bed(ports(hosts)) {
    TcpOptions options;
    options.congestion_control = "reno";
    options.least_rto = least_rto;
    // Waiting for an acknowledgement is no shorter than waiting to send one.
    options.delayed_ack = std::min(options.delayed_ack, least_rto);
    for (int i = 0; i < hosts; ++i) bed.net.connect({2 + i, 0}, {1}, options);
  }

  static std::vector<PortSettings> ports(int hosts) {
    std::vector<PortSettings> made = {
        {.name = "in", .rate = 1_Gbit, .delay = 25us, .queue_bytes = 100 * 1514},
        {.name = "back", .rate = 1_Gbit, .delay = 50us}};
    for (int i = 0; i < hosts; ++i) {
      made.push_back({.name = "host" + std::to_string(i), .rate = 1_Gbit, .delay = 25us});
    }
    return made;
  }

  /// Each host sends its part of so many bytes, and again when all are there; bits a second.
  double goodput(std::int64_t bytes, int rounds) {
    Time now = 0;
    std::uint64_t tag = 0;
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < hosts_; ++i) {
        bed.net.send(i, bytes / hosts_, bytes / hosts_, ++tag, now);
      }
      while (bed.arrivals < static_cast<std::int64_t>(tag)) bed.net.advance(now = bed.net.next());
    }
    return 8.0 * static_cast<double>(bytes) * rounds / seconds(now);
  }
  std::int64_t timeouts() const {
    std::int64_t sum = 0;
    for (int i = 0; i < hosts_; ++i) sum += bed.net.sender(i).counts().timeouts;
    return sum;
  }

  int hosts_;
  Bed bed;
};

// Packets are dropped from where first windows exceed the queue and what has left it: 10 n > 100 + 9.
TEST(Incast, DropsBeginWhereFirstWindowsExceedTheQueue) {
  for (int hosts = 8; hosts <= 14; ++hosts) {
    Incast incast(hosts, 200ms);
    incast.goodput(hosts * std::int64_t{14480}, 1);
    EXPECT_EQ(incast.bed.net.port(0).counts().dropped > 0, hosts > 10) << hosts;
  }
}

TEST(Incast, FewHostsFillTheLine) {
  for (const int hosts : {1, 4, 8}) {
    Incast incast(hosts, 200ms);
    EXPECT_GT(incast.goodput(1'000'000, 10), 930e6) << hosts;
    EXPECT_EQ(incast.timeouts(), 0);
  }
}

// Who loses all that it sent waits for a time-out, and the line with it: S / (S / C + P RTO).
TEST(Incast, ManyHostsCollapseForAsLongAsATimeOut) {
  for (const int hosts : {48, 64}) {
    Incast slow(hosts, 200ms);
    Incast fast(hosts, 10ms);
    const double with_200ms = slow.goodput(1'000'000, 10);
    const double with_10ms = fast.goodput(1'000'000, 10);
    EXPECT_GT(slow.timeouts(), 0) << hosts;
    EXPECT_LT(with_200ms, 0.15e9) << hosts;
    EXPECT_GE(with_200ms, 8e6 / (8e-3 + 2 * 0.204)) << hosts;
    EXPECT_GE(with_10ms, 8e6 / (8e-3 + 2 * 0.014)) << hosts;
    EXPECT_GT(with_10ms, 4 * with_200ms) << hosts;
  }
}

}  // namespace
}  // namespace tw::netsim
