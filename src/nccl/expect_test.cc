// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/expect.h"

#include <gtest/gtest.h>

namespace tw::nccl {
namespace {

Cluster dgx(const char* gpu, int hosts, Nics nics) {
  return {
      .ranks = 8 * hosts, .per_host = 8, .nics = nics, .gpu = *find_gpu(gpu), .stream = 20_Gbit};
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// nccl-tests' PERFORMANCE.md.
TEST(Operation, HasTheBusFactorsOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Operation::AllReduce, 16), 2.0 * 15 / 16);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::AllGather, 16), 15.0 / 16);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::ReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::AllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::Broadcast, 16), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::SendRecv, 16), 1);
  EXPECT_EQ(find_operation("alltoall"), Operation::AllToAll);
  EXPECT_FALSE(find_operation("all"));
}

// A ring over hosts passes each NIC once: its bus bandwidth is the NICs', whatever the ranks.
TEST(Expect, RingsReachTheNics) {
  for (const int hosts : {4, 16, 64}) {
    for (const Operation operation : {Operation::AllReduce, Operation::AllGather,
                                      Operation::ReduceScatter, Operation::Broadcast}) {
      const Expected row = expected(dgx("a100", hosts, {8, 200_Gbit}), operation, 64 * kGiB);
      EXPECT_NEAR(row.busbw_gbs, 192, 2) << hosts << ' ' << name_of(operation);
      EXPECT_EQ(row.limit, Limit::Nic);
    }
  }
}

// 8 A100 in one host: 235.3 GB/s were measured at 8 GiB (superbenchmark's sample), 240 is the ceiling.
TEST(Expect, OneHostReachesNvLink) {
  const Expected row = expected(dgx("a100", 1, {}), Operation::AllReduce, 8 * kGiB);
  EXPECT_GE(row.busbw_gbs, 235.3);
  EXPECT_LE(row.busbw_gbs, 240.0);
  EXPECT_EQ(row.limit, Limit::NvLink);
}

// Published: 8 x 200 Gbit/s and A100 give 192 GB/s; two hosts of H100 with 8 x 400 Gbit/s 430 to 480,
// which is more than their NICs' 384, since sums are made inside first.
TEST(Expect, TwoHostsMayExceedTheirNics) {
  const Expected two = expected(dgx("h100", 2, {8, 400_Gbit}), Operation::AllReduce, 8 * kGiB);
  EXPECT_GT(two.busbw_gbs, 430);
  EXPECT_LT(two.busbw_gbs, 480);
  const Expected four = expected(dgx("h100", 4, {8, 400_Gbit}), Operation::AllReduce, 8 * kGiB);
  EXPECT_LT(four.busbw_gbs, 384);
  EXPECT_GT(four.busbw_gbs, 320);
}

// Two hosts send all data once: algbw is at most 2 x 24 GB/s, busbw 15/8 of it, whatever NCCL believes.
TEST(Expect, NeverExceedsTheWires) {
  for (const char* gpu : {"v100", "a100", "h100", "b200"}) {
    for (const int hosts : {2, 3, 8}) {
      const Cluster cluster = dgx(gpu, hosts, {2, 200_Gbit});
      const double most = 48.0 * hosts / (2 * (hosts - 1));
      for (const std::int64_t bytes : sizes(1024, 64 * kGiB, 2)) {
        EXPECT_LE(expected(cluster, Operation::AllReduce, bytes).algbw_gbs, most + 1e-9)
            << gpu << ' ' << hosts << ' ' << bytes;
      }
    }
  }
}

// Two hosts of one GPU each on 10 Gbit/s: 1.2 GB/s at best, and small messages wait.
TEST(Expect, TwoHostsOfOneReachTheirLink) {
  Cluster pair = dgx("v100", 2, {1, 10_Gbit});
  pair.ranks = 2;
  pair.per_host = 1;
  EXPECT_NEAR(expected(pair, Operation::AllReduce, kGiB).busbw_gbs, 1.2, 0.02);
  EXPECT_EQ(expected(pair, Operation::AllReduce, 8).limit, Limit::Latency);
}

// Half of 16 ranks is elsewhere: a host sends 8 x 8/16 of what a rank has over 2 x 24 GB/s, so
// algbw = 48 / 4 = 12, busbw = 12 * 15/16 = 11.25.
TEST(Expect, AllToAllSharesTheNics) {
  const Expected row = expected(dgx("a100", 2, {2, 200_Gbit}), Operation::AllToAll, 16 * kGiB);
  EXPECT_NEAR(row.busbw_gbs, 11.25, 0.05);
  EXPECT_EQ(row.limit, Limit::Nic);
  EXPECT_FALSE(row.way);
}

// A V100 has 12 GB/s to its NIC, whatever that could carry; four NICs of a host with one GPU do not help it.
TEST(Expect, NoPairSendsMoreThanItsGpuHasToTheNics) {
  Cluster lone = dgx("v100", 4, {4, 400_Gbit});
  lone.ranks = 4;
  lone.per_host = 1;
  for (const Operation operation : {Operation::SendRecv, Operation::AllToAll}) {
    const Expected row = expected(lone, operation, 16 * kGiB);
    EXPECT_NEAR(row.busbw_gbs, 12, 0.05) << name_of(operation);
    EXPECT_EQ(row.limit, Limit::Pcie);
  }
}

// Two connections of 20 Gbit/s carry 5 GB/s of the NIC's 12.5.
TEST(Expect, SocketsEndAtTheirStreams) {
  Cluster cluster = dgx("a100", 4, {1, 100_Gbit});
  cluster.transport = Transport::Socket;
  const Expected row = expected(cluster, Operation::AllReduce, 16 * kGiB);
  EXPECT_NEAR(row.busbw_gbs, 5, 0.1);
  EXPECT_EQ(row.limit, Limit::Streams);
}

// Eight bytes around a ring of n hosts wait 2(n-1) times for the delay; a tree waits less often.
TEST(Expect, DelayIsWaitedForAtEachCrossing) {
  Cluster near = dgx("a100", 2, {1, 100_Gbit});
  near.ranks = 2;
  near.per_host = 1;
  Cluster far = near;
  far.delay = std::chrono::milliseconds(1);
  const double more = expected(far, Operation::AllReduce, 8).time_us -
                      expected(near, Operation::AllReduce, 8).time_us;
  EXPECT_NEAR(more, 2000, 1);
}

TEST(Expect, RatesBelowNcclsSpeedsAreStillTheWires) {
  Cluster slow = dgx("a100", 4, {1, 100_Mbit});
  EXPECT_NEAR(expected(slow, Operation::AllReduce, 16 * kGiB).busbw_gbs, 0.0125, 1e-4);
}

// Bandwidth rises with size, but where NCCL changes its way or believes that trees are slow.
TEST(Expect, TimesRiseWithSize) {
  const Cluster cluster = dgx("h100", 16, {8, 400_Gbit});
  double before = 0;
  for (const std::int64_t bytes : sizes(8, 16 * kGiB, 2)) {
    const Expected row = expected(cluster, Operation::AllReduce, bytes);
    EXPECT_GE(row.time_us, 0.9 * before) << bytes;
    before = row.time_us;
  }
}

TEST(Expect, CeilingIsWhereLargeMessagesEnd) {
  const Ceiling found = ceiling(dgx("a100", 4, {8, 200_Gbit}), Operation::AllReduce);
  EXPECT_NEAR(found.busbw_gbs, 192, 1);
  EXPECT_EQ(found.limit, Limit::Nic);
  EXPECT_GT(found.half_from, 1 << 20);
}

TEST(Expect, SizesAreThoseOfNcclTests) {
  EXPECT_EQ(sizes(8, 64, 2), (std::vector<std::int64_t>{8, 16, 32, 64}));
  EXPECT_EQ(sizes(1, 3, 1.1), (std::vector<std::int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace tw::nccl
