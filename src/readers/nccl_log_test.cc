// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/counted.h"
#include "trainwire/operations/wired.h"
#include "trainwire/readers/nccl_lines.h"
#include "trainwire/readers/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tw::readers {
namespace {

using operations::Told;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string reduced(const std::string& who, const std::string& count, const std::string& number,
                    const std::string& communicator) {
  return who + " NCCL INFO AllReduce: opCount " + number +
         " sendbuff 0x7f0000 recvbuff 0x7f0000 count " + count + " datatype 7 op 0 root 0 comm " +
         communicator + " [nranks=2] stream 0x55\n";
}

TEST(NcclLog, WarningsAloneAreRead) {
  // Of a plugin of C, which names its file between device and level.
  const Told told = read_text(
      "host3:34:39 [4] plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.9<5> with "
      "status=12 opcode=0 len=0 vendor err 129 (Recv)\n",
      "x.log");
  EXPECT_EQ(told.kind, "nccl_log");
  EXPECT_EQ(told.records, 1U);
  EXPECT_FALSE(told.wiring.empty());
  EXPECT_THAT(operations::remarks_on(told.wiring), SizeIs(1));
  EXPECT_THAT(operations::failure_text(told.wiring), HasSubstr("the peer did not answer"));
}

TEST(NcclLine, HostsStandBeforeAFileOfAnyLanguage) {
  const auto line = nccl_line("host3:34:39 [4] plugin.c:1615 NCCL WARN text");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->host, "host3");
  EXPECT_EQ(line->process, "host3:34");
  EXPECT_EQ(line->device, "4");
  EXPECT_EQ(nccl_line("host.name:34:39 [1] NCCL WARN text")->host, "host.name");
}

TEST(NcclLine, VersionsBeforeTheirNameAreKnownByHostProcessAndDevice) {
  const auto line = nccl_line("[1,0]<stdout>:host3:34:39 [4] INFO Ring 00 :    0   1");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->host, "host3");
  EXPECT_EQ(line->process, "host3:34");
  EXPECT_EQ(line->device, "4");
  EXPECT_EQ(line->text, "Ring 00 :    0   1");
  const auto warning = nccl_line("host3:34:39 [4] misc/ibvwrap.cu:61 WARN Failed to open it");
  ASSERT_TRUE(warning);
  EXPECT_TRUE(warning->warns);
  EXPECT_EQ(warning->text, "Failed to open it");
  for (const std::string_view other :
       {"2024-05-01 12:00:10 [main] INFO step 3", "host3:34:39 [worker] INFO step 3",
        "[0] INFO step 3", "host3:34 [4] INFO step 3", "host3:34:39 [4] app WARN step 3"}) {
    EXPECT_FALSE(nccl_line(other)) << other;
  }
}

// As 2.1 to 2.3 write it.
TEST(NcclLog, VersionsBeforeTheirNameTellRingsHostsAndNetwork) {
  std::string text = "NCCL version 2.2.13+cuda9.0\n";
  for (int rank = 0; rank < 4; ++rank) {
    const std::string who = std::string(rank < 2 ? "node1" : "node2") + ":" +
                            std::to_string(100 + rank) + ":" + std::to_string(200 + rank) + " [" +
                            std::to_string(rank % 2) + "] INFO ";
    text += who + "NET : Using interface eth0:10.0.0." + std::to_string(1 + rank / 2) + "<0>\n" +
            who + "NET/IB: [0] mlx5_0:1/IB\n" + who + "NET/IB: [1] mlx5_1:1/IB\n" + who +
            "Using internal Network IB\n" + who + "rank " + std::to_string(rank) + " nranks 4\n";
    if (rank == 1) text += who + "Ring 00 : 1 -> 2 via NET/IB/0/GDRDMA\n";
  }
  text += "node1:100:200 [0] INFO Ring 00 :    0   1   2   3\n";
  const Told told = read_text(text, "x.log");
  EXPECT_EQ(told.kind, "nccl_log");
  EXPECT_EQ(told.wiring.version, "2.2.13+cuda9.0");
  EXPECT_EQ(told.wiring.network, "IB");
  EXPECT_EQ(told.wiring.ranks, 4);
  EXPECT_EQ(told.wiring.hosts.at(0), "node1");
  EXPECT_EQ(told.wiring.hosts.at(3), "node2");
  EXPECT_THAT(told.wiring.rings.at(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(told.wiring.devices.at("NET/IB"), ElementsAre("mlx5_0", "mlx5_1"));
  ASSERT_THAT(told.wiring.ways, SizeIs(1));
  EXPECT_EQ(told.wiring.ways[0].transport, "NET/IB/0/GDRDMA");
}

TEST(NcclLog, CollectivesThatSeveralRanksTellCountOnce) {
  // Two ranks on each of two communicators, as without INIT lines: 2 of 4 bytes, and 1 of 400.
  const Told told = read_text(
      reduced("a:1:1 [0]", "1", "0", "0xa0") + reduced("a:1:1 [0]", "1", "1", "0xa0") +
          reduced("a:1:1 [0]", "100", "0", "0xa1") + reduced("b:1:1 [0]", "1", "0", "0xb0") +
          reduced("b:1:1 [0]", "1", "1", "0xb0") + reduced("b:1:1 [0]", "100", "0", "0xb1"),
      "x.log");
  operations::Imported imported;
  imported.told = {told};
  const record::Operations made = operations::operations_of(imported);
  EXPECT_EQ(made.count, 3U);
  EXPECT_EQ(made.by_op[0].bytes, 408U);
}

TEST(NcclLog, DevicesOfOneProcessAreRanksOfOneCommunicator) {
  const Told told = read_text(
      reduced("a:1:1 [0]", "100", "0", "0xa0") + reduced("a:1:2 [1]", "100", "0", "0xb0"), "x.log");
  operations::Imported imported;
  imported.told = {told};
  EXPECT_EQ(operations::operations_of(imported).by_op[0].bytes, 400U);
}

TEST(NcclLog, WaysTellWhereRanksAreWithoutCommunicators) {
  const Told told = read_text(
      "a:1:1 [0] NCCL INFO Channel 02/0 : 1[c6000] -> 2[c1000] [send] via NET/Socket/1 comm 0x9e "
      "nRanks 04\n"
      "b:1:1 [0] NCCL INFO Channel 02/0 : 1[c6000] -> 2[c1000] [receive] via NET/Socket/1 comm "
      "0x9d nRanks 04\n"
      "b:2:2 [1] NCCL INFO Channel 02/0 : 3[c9000] -> 2[c1000] via P2P/IPC comm 0x9d nRanks 04\n",
      "x.log");
  EXPECT_EQ(told.wiring.ranks, 4);
  EXPECT_THAT(told.wiring.hosts,
              ElementsAre(testing::Pair(1, "a"), testing::Pair(2, "b"), testing::Pair(3, "b")));
  EXPECT_EQ(operations::remarks_on(told.wiring)[0].text,
            "NCCL, 4 ranks, rank 1 on a, ranks 2, 3 on b; ways: 1 x NET/Socket, 1 x P2P");
}

TEST(NcclLog, WaysThatOnlyTheReceivingEndTellsCountOnce) {
  const Told told = read_text(
      "b:1:1 [0] NCCL INFO Ring 00 : 7 -> 8 [receive] via NET/AWS Libfabric/0\n"
      "b:1:1 [0] NCCL INFO Ring 00 : 7 -> 8 [receive] via NET/AWS Libfabric/0\n"
      "b:1:1 [0] NCCL INFO Ring 00 : 8[0] -> 9[1] via P2P/IPC\n",
      "x.log");
  EXPECT_EQ(operations::remarks_on(told.wiring)[0].text,
            "NCCL, rank 8 on b; ways: 1 x NET/AWS Libfabric, 1 x P2P");
}

TEST(NcclLog, TuningOfOldVersionsDoesNotNameTheOperation) {
  const std::string tuned = "a:1:1 [0] NCCL INFO 400 Bytes -> Algo 1 proto 2 time 34.693867\n";
  const Told alone = read_text(tuned, "x.log");
  ASSERT_THAT(alone.operations, SizeIs(1));
  EXPECT_EQ(alone.operations[0].op, "unknown");
  EXPECT_EQ(alone.operations[0].bytes, 400);
  EXPECT_EQ(alone.operations[0].algorithm, "ring");
  const Told both = read_text(reduced("a:1:1 [0]", "100", "0", "0xa0") + tuned, "x.log");
  ASSERT_THAT(both.operations, SizeIs(1));
  EXPECT_EQ(both.operations[0].op, "all_reduce");
  EXPECT_EQ(both.operations[0].protocol, "simple");
}

TEST(NcclLog, WatchdogsAndStallsSpeakInATrainingLogToo) {
  std::string text;
  for (int step = 10; step < 24; ++step)
    text += "step " + std::to_string(step) + " | elapsed time per iteration (ms): 812.4\n";
  const Told told =
      read_text(text +
                    "[Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, "
                    "OpType=ALLREDUCE) ran\na_0 [missing ranks: 1]\n",
                "x.log");
  EXPECT_EQ(told.kind, "pace_log");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].rank, 5);
  ASSERT_TRUE(told.stall);
  EXPECT_EQ(told.stall->first, "a_0");
}

TEST(NcclLog, PortsThatAreTakenAsOneAreOneCard) {
  const Told told = read_text(
      "a:1:2 [0] NCCL INFO NET/IB : Using [0]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} "
      "[1]mlx5_0:1/IB "
      "[RO]; OOB bond0:10.0.0.1<0>\n"
      "a:1:2 [0] NCCL INFO NET/IB: mlx5_3 is there\n",
      "x.log");
  EXPECT_THAT(told.wiring.devices.at("NET/IB"), ElementsAre("mlx5_0", "mlx5_2+mlx5_3"));
  EXPECT_THAT(told.wiring.other_nics, SizeIs(0));
}

TEST(NcclLog, TreesAndRingsTellWhereTheirRanksAre) {
  const Told told =
      read_text("a:1:2 [1] NCCL INFO Trees [0] -1/-1/-1->3->2 [1] 2/-1/-1->3->1\n", "x.log");
  EXPECT_THAT(told.wiring.hosts, ElementsAre(testing::Pair(3, "a")));
  const Told ring = read_text(
      "a:1:2 [0] NCCL INFO Ring 00 : 1 -> 0 -> 1\nb:1:2 [0] NCCL INFO Ring 00 : 0 -> 1 -> 0\n",
      "x");
  EXPECT_THAT(ring.wiring.hosts, ElementsAre(testing::Pair(0, "a"), testing::Pair(1, "b")));
}

TEST(NcclLog, RanksOfDifferentNetworksAreAFailure) {
  const Told told = read_text(
      "a:1:2 [2] misc/socket.cc:441 NCCL WARN socketFinalizeAccept: wrong type 4 != 3\n", "x.log");
  EXPECT_THAT(operations::failure_text(told.wiring), HasSubstr("do not use the same network"));
  const Told unreached = read_text(
      "a:1:2 [2] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with error Invalid "
      "argument\n",
      "x.log");
  EXPECT_THAT(operations::failure_text(unreached.wiring), HasSubstr("NCCL_IB_GID_INDEX"));
}

}  // namespace
}  // namespace tw::readers
