// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/tuning.h"

#include "trainwire/nccl/graph.h"

#include <gtest/gtest.h>

namespace tw::nccl {
namespace {

constexpr Way kTreeLl{Algorithm::Tree, Protocol::Ll};
constexpr Way kTreeSimple{Algorithm::Tree, Protocol::Simple};
constexpr Way kRingLl{Algorithm::Ring, Protocol::Ll};
constexpr Way kRingLl128{Algorithm::Ring, Protocol::Ll128};
constexpr Way kRingSimple{Algorithm::Ring, Protocol::Simple};
constexpr Way kNvls{Algorithm::Nvls, Protocol::Simple};

/// Four hosts of one H200 each on 10 Gbit/s and TCP.
Cluster four_hosts() {
  return {.ranks = 4,
          .per_host = 1,
          .nics = {1, 10_Gbit},
          .transport = Transport::Socket,
          .intra = Intra::Pcie,
          .gpu = *find_gpu("h200"),
          .stream = 20_Gbit};
}

Cluster dgx(const char* gpu, int hosts, Nics nics) {
  return {.ranks = 8 * hosts, .per_host = 8, .nics = nics, .gpu = *find_gpu(gpu)};
}

// NCCL 2.28.9 printed these as latency/bandwidth, with one decimal, for the cluster of four_hosts()
// (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=TUNING).
TEST(Tuning, IsWhatNcclPrints) {
  struct Printed {
    Operation operation;
    Way way;
    double latency_us;
    double algbw_gbs;
  };
  const Way pat{Algorithm::Pat, Protocol::Simple};
  for (const Printed& line : {Printed{Operation::Broadcast, kRingLl, 9.3, 0.6},
                              Printed{Operation::Broadcast, kRingSimple, 22.4, 1.2},
                              Printed{Operation::Reduce, kRingLl, 9.3, 0.6},
                              Printed{Operation::AllGather, kRingLl, 21.6, 0.8},
                              Printed{Operation::AllGather, kRingSimple, 50.4, 1.6},
                              Printed{Operation::AllGather, pat, 27.2, 0.9},
                              Printed{Operation::ReduceScatter, kRingSimple, 50.4, 1.6},
                              Printed{Operation::ReduceScatter, pat, 27.2, 0.9},
                              Printed{Operation::AllReduce, kTreeLl, 26.8, 0.1},
                              Printed{Operation::AllReduce, kTreeSimple, 64.4, 0.5},
                              Printed{Operation::AllReduce, kRingLl, 36.6, 0.4},
                              Printed{Operation::AllReduce, kRingSimple, 92.4, 0.8}}) {
    const auto cost = cost_of(four_hosts(), line.operation, line.way);
    ASSERT_TRUE(cost) << name_of(line.operation) << ' ' << name_of(line.way);
    EXPECT_NEAR(cost->latency_us, line.latency_us, 0.051) << name_of(line.way);
    EXPECT_NEAR(cost->algbw_gbs, line.algbw_gbs, 0.051) << name_of(line.way);
  }
}

// The same log: "LL128" had bandwidth 0, that is, is not taken over TCP.
TEST(Tuning, TakesLl128OnlyWhereItIsSafe) {
  EXPECT_FALSE(cost_of(four_hosts(), Operation::AllReduce, kRingLl128));
  EXPECT_TRUE(cost_of(dgx("a100", 2, {8, 200_Gbit}), Operation::AllReduce, kRingLl128));
  Cluster pcie = dgx("a100", 1, {});
  pcie.intra = Intra::Pcie;
  EXPECT_FALSE(cost_of(pcie, Operation::AllReduce, kRingLl128));
}

// The same log: "AllReduce: 46758048 Bytes -> Algo RING proto SIMPLE", likewise 2052000 bytes;
// "AllGather: 8 Bytes -> Algo RING proto LL", "Broadcast: 38400 Bytes -> ... SIMPLE", 1968: LL.
TEST(Tuning, ChoosesAsNcclDid) {
  EXPECT_EQ(choose(four_hosts(), Operation::AllReduce, 46758048).way, kRingSimple);
  EXPECT_EQ(choose(four_hosts(), Operation::AllReduce, 2052000).way, kRingSimple);
  EXPECT_EQ(choose(four_hosts(), Operation::AllGather, 8).way, kRingLl);
  EXPECT_EQ(choose(four_hosts(), Operation::Broadcast, 38400).way, kRingSimple);
  EXPECT_EQ(choose(four_hosts(), Operation::Broadcast, 1968).way, kRingLl);
}

// A tree of n hosts waits 2 log2(n) times, a ring 2(n-1) times.
TEST(Tuning, CrossesFromTreeToRingWithSize) {
  const Cluster many = dgx("a100", 16, {8, 200_Gbit});
  EXPECT_EQ(choose(many, Operation::AllReduce, 1024).way.algorithm, Algorithm::Tree);
  EXPECT_EQ(choose(many, Operation::AllReduce, 8e9).way.algorithm, Algorithm::Ring);
  bool ring = false;
  for (double bytes = 8; bytes < 1e11; bytes *= 2) {
    const bool now = choose(many, Operation::AllReduce, bytes).way.algorithm == Algorithm::Ring;
    EXPECT_TRUE(now || !ring) << bytes << " bytes: back to the tree";
    ring = now;
  }
}

// 200 Gbit/s is 25 GB/s, of which NCCL takes 24; eight of them carry 192.
TEST(Graph, HasTheSpeedsOfNccl) {
  EXPECT_DOUBLE_EQ(ring_graph(dgx("a100", 4, {8, 200_Gbit})).total_gbs(), 192);
  EXPECT_DOUBLE_EQ(ring_graph(dgx("h100", 4, {8, 400_Gbit})).total_gbs(), 360);
  EXPECT_DOUBLE_EQ(ring_graph(dgx("a100", 1, {})).total_gbs(), 240);
  EXPECT_DOUBLE_EQ(ring_graph(four_hosts()).total_gbs(), 1.2);
}

// One GPU with four NICs of 400 Gbit/s takes what its PCIe does.
TEST(Graph, OfOneGpuEndsAtItsPcie) {
  Cluster one = dgx("h100", 2, {4, 400_Gbit});
  one.ranks = 2;
  one.per_host = 1;
  EXPECT_DOUBLE_EQ(ring_graph(one).total_gbs(), 48);
  EXPECT_EQ(ring_graph(one).limit, Limit::Pcie);
}

// Eight H100: 40 GB/s a head, times 0.85, times 7/8, twice: 476 GB/s (480 is what people measure).
TEST(Tuning, SumsInNvLinksSwitches) {
  const auto cost = cost_of(dgx("h100", 1, {}), Operation::AllReduce, kNvls);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->algbw_gbs * bus_factor(Operation::AllReduce, 8), 476, 1);
  EXPECT_EQ(choose(dgx("h100", 1, {}), Operation::AllReduce, 8e9).way, kNvls);
  EXPECT_FALSE(cost_of(dgx("a100", 1, {}), Operation::AllReduce, kNvls));
}

}  // namespace
}  // namespace tw::nccl
