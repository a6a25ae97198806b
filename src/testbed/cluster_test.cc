// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/cluster.h"

#include "trainwire/base/error.h"
#include "trainwire/measure/path.h"
#include "trainwire/measure/test_tries.h"
#include "trainwire/network/test_plans.h"
#include "trainwire/os/namespace.h"
#include "trainwire/testbed/check.h"
#include "trainwire/testbed/shaping.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>

namespace tw::testbed {
namespace {

using spec::Engine;

class ClusterOf : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (GetParam() == Engine::Tap && ::access("/dev/net/tun", R_OK | W_OK) != 0) {
      GTEST_SKIP() << "no /dev/net/tun";
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, ClusterOf, testing::Values(Engine::Nfqueue, Engine::Tap),
                         [](const auto& param) {
                           return param.param == Engine::Tap ? "Tap" : "Nfqueue";
                         });

// Two links each way.
TEST_P(ClusterOf, GivesTheDelay) {
  Cluster cluster(network::plan_of("hosts = 2\nrate = \"100Mbit\"\ndelay = \"5ms\""), GetParam());
  const auto found = measure::measure_round_trip(end_of(cluster, 0), end_of(cluster, 1), {});
  EXPECT_GE(found.median, std::chrono::milliseconds(20));
  EXPECT_LE(found.median, std::chrono::milliseconds(40));
  EXPECT_FALSE(cluster.engine_failure());
}

TEST_P(ClusterOf, GivesTheRate) {
  const Cluster cluster(network::plan_of("hosts = 2\nrate = \"50Mbit\"\ndelay = \"1ms\""),
                        GetParam());
  const measure::PathExpectation expected = expectation(cluster.plan(), {0, 1});
  measure::expect_carried(measure::nearest_share([&] {
    return measure::measure_rate(end_of(cluster, 0), end_of(cluster, 1),
                                 {.expected = expected.rate, .burst = expected.burst})
               .carried /
           50_Mbit;
  }));
}

// 2 % on each of two links; the interval of the count holds the truth in 99.9 % of runs.
TEST_P(ClusterOf, LosesTheShare) {
  Cluster cluster(network::plan_of("hosts = 2\nrate = \"100Mbit\"\ndelay = \"1ms\"\nloss = 0.02"),
                  GetParam());
  const measure::PathExpectation expected = expectation(cluster.plan(), {0, 1});
  const measure::MeasuredLoss found = measure::measure_loss(end_of(cluster, 0), end_of(cluster, 1),
                                                            measure::loss_options(expected));
  EXPECT_TRUE(
      measure::contains(measure::binomial_interval(found.lost(), found.sent, 0.999), expected.loss))
      << found.lost() << " of " << found.sent;
  // The engine counted what it lost.
  std::uint64_t counted = 0;
  for (const fabric::PortCounters& port : cluster.counters().ports()) counted += port.lost.load();
  EXPECT_GE(counted, found.lost());
}

// Three links of 3 ms each way.
TEST_P(ClusterOf, ADumbbellHasACore) {
  const Cluster cluster(
      network::plan_of("hosts = 3\ntopology = \"dumbbell\"\nleft = 1\ndelay = \"3ms\""),
      GetParam());
  const auto across = measure::measure_round_trip(end_of(cluster, 0), end_of(cluster, 2));
  EXPECT_GE(across.median, std::chrono::milliseconds(18));
  EXPECT_LE(across.median, std::chrono::milliseconds(36));
  const auto beside = measure::measure_round_trip(end_of(cluster, 1), end_of(cluster, 2));
  EXPECT_GE(beside.median, std::chrono::milliseconds(12));
  EXPECT_LT(beside.median, across.median);
}

TEST_P(ClusterOf, EveryPairOfALeafSpineIsJoined) {
  const Cluster cluster(
      network::plan_of("hosts = 5\ntopology = \"leafspine\"\nleaves = 3\nspines = 2"), GetParam());
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) {
      if (from == to) continue;
      const auto found =
          measure::measure_round_trip(end_of(cluster, from), end_of(cluster, to), {.count = 3});
      EXPECT_EQ(found.lost, 0) << from << " to " << to;
    }
  }
}

// k = 4 for three hosts and more: within an edge switch, within a pod and between pods.
TEST_P(ClusterOf, EveryPairOfAFatTreeIsJoined) {
  const Cluster cluster(network::plan_of("hosts = 6\ntopology = \"fattree\"\ndelay = \"1ms\""),
                        GetParam());
  for (int from = 0; from < 6; ++from) {
    for (int to = 0; to < 6; ++to) {
      if (from == to) continue;
      const auto found =
          measure_round_trip(end_of(cluster, from), end_of(cluster, to), {.count = 3});
      EXPECT_EQ(found.lost, 0) << from << " to " << to;
    }
  }
  // Two links, or six, of 1 ms each way.
  const auto beside = measure_round_trip(end_of(cluster, 0), end_of(cluster, 1), {.count = 20});
  EXPECT_GE(beside.median, std::chrono::milliseconds(4));
  const auto across = measure_round_trip(end_of(cluster, 0), end_of(cluster, 5), {.count = 20});
  EXPECT_GE(across.median, std::chrono::milliseconds(12));
  EXPECT_LT(beside.median, across.median);
}

TEST_P(ClusterOf, SpeaksIpv6) {
  const Cluster cluster(network::plan_of("hosts = 2\nip_version = 6\ndelay = \"2ms\""), GetParam());
  const auto found =
      measure::measure_round_trip(end_of(cluster, 0), end_of(cluster, 1), {.count = 20});
  EXPECT_GE(found.median, std::chrono::milliseconds(8));
  EXPECT_EQ(found.lost, 0);
}

/// Its socket has joined the group on the host's device.
os::FileDescriptor listener(const Cluster& cluster, int host) {
  const os::InNetwork inside(cluster.host(host));
  os::FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_port = htons(5000);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  ip_mreqn group = {};
  ::inet_pton(AF_INET, "239.1.2.3", &group.imr_multiaddr);
  group.imr_ifindex = static_cast<int>(::if_nametoindex(kHostDevice));
  EXPECT_EQ(::setsockopt(socket.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group), 0);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
}

TEST_P(ClusterOf, MulticastReachesTheOtherHosts) {
  const Cluster cluster(network::plan_of("hosts = 3\ndelay = \"1ms\""), GetParam());
  const os::FileDescriptor first = listener(cluster, 1);
  const os::FileDescriptor second = listener(cluster, 2);
  const os::InNetwork inside(cluster.host(0));
  const os::FileDescriptor sender(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in group = {};
  group.sin_family = AF_INET;
  group.sin_port = htons(5000);
  ::inet_pton(AF_INET, "239.1.2.3", &group.sin_addr);
  ASSERT_EQ(::sendto(sender.get(), "word", 4, 0, reinterpret_cast<sockaddr*>(&group), sizeof group),
            4);
  std::array<char, 16> word = {};
  EXPECT_EQ(::recv(first.get(), word.data(), word.size(), 0), 4);
  EXPECT_EQ(::recv(second.get(), word.data(), word.size(), 0), 4);
}

// The aim is half a second; the limit leaves room for a busy machine.
/// Whether connections of a host ask for marks (1), or only agree to be asked.
std::string ecn_of(const Cluster& cluster, int host) {
  const os::InNetwork inside(cluster.host(host));
  std::string value;
  std::ifstream("/proc/sys/net/ipv4/tcp_ecn") >> value;
  return value;
}

TEST_P(ClusterOf, AsksForMarksWherePacketsAreMarked) {
  const Cluster plain(network::plan_of("hosts = 2\nrate = \"100Mbit\""), GetParam());
  EXPECT_NE(ecn_of(plain, 1), "1");
  if (GetParam() != Engine::Tap) return;  // which alone marks
  const Cluster marked(network::plan_of("hosts = 2\nrate = \"100Mbit\"\necn = \"20KB\""),
                       GetParam());
  EXPECT_EQ(ecn_of(marked, 1), "1");
}

TEST_P(ClusterOf, SixtyFourHostsAreMadeAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const Cluster cluster(network::plan_of("hosts = 64"), GetParam());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(measure::measure_round_trip(end_of(cluster, 0), end_of(cluster, 63), {.count = 3}).lost,
            0);
}

TEST(Engines, SayWhatTheyCannotDo) {
  const network::NetPlan marked = network::plan_of("hosts = 2\necn = \"100KB\"");
  EXPECT_THROW(require_possible(marked, Engine::Nfqueue), SpecError);
  EXPECT_NO_THROW(require_possible(marked, Engine::Tap));
  const network::NetPlan uneven = network::plan_of(
      "hosts = 2\n[[network.link]]\nat = \"host1\"\ndirection = \"from_host\"\ndelay = \"9ms\"");
  EXPECT_THROW(require_possible(uneven, Engine::Netem), SpecError);
  EXPECT_NO_THROW(require_possible(network::plan_of("hosts = 2"), Engine::Netem));
}

TEST(Shaping, NeverCutsASegmentAndNeverStarvesOnLateTimers) {
  // 125 us of 1 Gbit/s are 15.6 kB; 1 ms is 125 kB.
  EXPECT_EQ(network::largest_segment(1_Gbit), 15'625_B);
  EXPECT_EQ(network::largest_segment(10_Mbit), 6000_B);
  EXPECT_EQ(network::largest_segment(100_Gbit), 65'536_B);
  const network::Port port{.link = "host0", .rate = 1_Gbit, .queue = 50'000_B};
  EXPECT_EQ(bucket_for(port, 1500, false),
            (Bucket{.rate = 1_Gbit, .burst = 125'000_B, .limit = 175'000_B}));
  const network::Port slow{.link = "host0", .rate = 1_Mbit, .queue = 50'000_B};
  EXPECT_EQ(bucket_for(slow, 1500, false).burst, 12'000_B);
  EXPECT_EQ(bucket_for(slow, 1500, true).burst, 3028_B);
}

}  // namespace
}  // namespace tw::testbed
