// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/against.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::nccl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Cluster pair_of_hosts(Nics nics) {
  return {.ranks = 16, .per_host = 8, .nics = nics, .gpu = *find_gpu("a100"), .stream = 20_Gbit};
}

/// A table as some other hardware would have it, `slower` times slower.
PerfFile measured_on(const Cluster& cluster, Operation operation, double slower = 1,
                     std::int64_t last = std::int64_t{1} << 32) {
  PerfTable table;
  for (const std::int64_t bytes : sizes(8, last, 2)) {
    const Expected row = expected(cluster, operation, bytes);
    table.rows.push_back({.bytes = bytes,
                          .count = bytes / 4,
                          .type = "float",
                          .out_of_place = Timed{row.time_us * slower, row.algbw_gbs / slower,
                                                row.busbw_gbs / slower},
                          .in_place = {}});
  }
  return {.tables = {table}};
}

TEST(Against, SaysThatHardwareDoesWhatItShould) {
  const Cluster cluster = pair_of_hosts({2, 200_Gbit});
  const Comparison found =
      compare(cluster, Operation::AllReduce, measured_on(cluster, Operation::AllReduce, 1.05));
  EXPECT_THAT(found.sentence, HasSubstr("(95 %): as expected"));
  EXPECT_THAT(found.explanations, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(Against, FindsTheNicThatIsNotUsed) {
  const Comparison found =
      compare(pair_of_hosts({2, 100_Gbit}), Operation::AllGather,
              measured_on(pair_of_hosts({1, 100_Gbit}), Operation::AllGather, 1.04));
  EXPECT_THAT(found.explanations, ElementsAre("1 of 2 NICs is used"));
  EXPECT_THAT(found.sentence, HasSubstr("looks like 1 of 2 NICs is used"));
}

TEST(Against, FindsTcpInsteadOfRdma) {
  Cluster tcp = pair_of_hosts({1, 200_Gbit});
  tcp.transport = Transport::Socket;
  const Comparison found = compare(pair_of_hosts({1, 200_Gbit}), Operation::AllReduce,
                                   measured_on(tcp, Operation::AllReduce));
  EXPECT_THAT(found.sentence, HasSubstr("TCP is used instead of RDMA"));
}

// One NIC of 200 Gbit/s and PCIe of the fourth generation both carry 24 GB/s.
TEST(Against, NamesAllThatWouldExplain) {
  const Comparison found = compare(pair_of_hosts({2, 200_Gbit}), Operation::AllGather,
                                   measured_on(pair_of_hosts({1, 200_Gbit}), Operation::AllGather));
  EXPECT_THAT(found.sentence, HasSubstr("1 of 2 NICs is used, or GPUs of a host"));
}

// Two hosts of eight whose NICs carry 192 GB/s: a ring's bus bandwidth, where summing inside hosts first shows nearly twice that.
TEST(Against, FindsTheRingThatShowsWhatNicsCarry) {
  Cluster cluster = pair_of_hosts({8, 200_Gbit});
  cluster.gpu = *find_gpu("h100");
  ASSERT_GT(ceiling(cluster, Operation::AllReduce).busbw_gbs, 300);
  const Comparison found =
      compare(cluster, Operation::AllReduce,
              measured_on(cluster, Operation::AllReduce,
                          ceiling(cluster, Operation::AllReduce).busbw_gbs / 195));
  EXPECT_THAT(found.sentence, HasSubstr("looks like NCCL takes a ring"));
}

// 67 % is neither one NIC of two nor TCP.
TEST(Against, NamesNothingThatDoesNotExplain) {
  const Cluster cluster = pair_of_hosts({2, 200_Gbit});
  const Comparison found =
      compare(cluster, Operation::AllGather, measured_on(cluster, Operation::AllGather, 1 / 0.67));
  EXPECT_THAT(found.explanations, IsEmpty());
  EXPECT_THAT(found.sentence, HasSubstr("nothing that is looked for here"));
}

TEST(Against, SaysNothingOfBandwidthWithoutLargeMessages) {
  const Cluster cluster = pair_of_hosts({2, 200_Gbit});
  const Comparison found = compare(cluster, Operation::AllReduce,
                                   measured_on(cluster, Operation::AllReduce, 3.5, 65536));
  EXPECT_THAT(found.sentence, HasSubstr("too little to tell"));
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("small messages take")));
}

// t = 50 us + bytes / 10 GB/s: half the bandwidth is reached at 500 kB.
TEST(Against, FindsTheKneeOfALine) {
  PerfTable table;
  for (const std::int64_t bytes : sizes(1024, std::int64_t{1} << 28, 2)) {
    const double time = (50 + static_cast<double>(bytes) / 1e4) * (bytes % 3 == 1 ? 1.01 : 0.99);
    table.rows.push_back({.bytes = bytes,
                          .count = 0,
                          .type = "float",
                          .out_of_place = Timed{time, 0, 0},
                          .in_place = {}});
  }
  const Comparison found =
      compare(pair_of_hosts({1, 100_Gbit}), Operation::AllReduce, {.tables = {table}});
  ASSERT_TRUE(found.knee_bytes);
  EXPECT_NEAR(found.knee_bytes->value, 5e5, 1e4);
  EXPECT_LT(found.knee_bytes->low, 5e5);
  EXPECT_GT(found.knee_bytes->high, 5e5);
}

TEST(Against, TellsSmallRatesToo) {
  PerfTable table;
  for (const std::int64_t bytes : sizes(64, 4096, 2)) {
    table.rows.push_back({.bytes = bytes,
                          .count = 0,
                          .type = "float",
                          .out_of_place = Timed{100, 0, 0},
                          .in_place = {}});
  }
  const Comparison found =
      compare(pair_of_hosts({1, 100_Gbit}), Operation::AllReduce, {.tables = {table}});
  EXPECT_EQ(found.sentence.find(" 0.0 "), std::string::npos) << found.sentence;
}

TEST(Against, RefusesATableOfAnotherOperation) {
  const Cluster cluster = pair_of_hosts({1, 100_Gbit});
  const PerfFile file = measured_on(cluster, Operation::AllGather);
  EXPECT_THROW(compare(cluster, Operation::AllReduce, file), DataError);
  PerfFile named = file;
  named.tables[0].operation = Operation::AllGather;
  EXPECT_THROW(compare(cluster, Operation::AllReduce, named), DataError);
  EXPECT_NO_THROW(compare(cluster, Operation::AllGather, named));
}

}  // namespace
}  // namespace tw::nccl
