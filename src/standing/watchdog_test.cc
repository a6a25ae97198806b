// SPDX-License-Identifier: Apache-2.0
#include "trainwire/standing/watchdog.h"

#include "trainwire/operations/missing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tw::standing {
namespace {

using operations::hangs;
using operations::sentence_of;
using operations::Told;
using testing::ElementsAre;
using testing::HasSubstr;

Told told_of(std::string_view text) {
  Told told{.path = "x.log", .kind = "nccl_log"};
  Watchdog watchdog;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    watchdog.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  watchdog.finish(told.operations);
  return told;
}

std::string caught(const std::string& rank, const std::string& work) {
  return "[rank" + rank + "]:[E626 06:24:44.9 ProcessGroupNCCL.cpp:632] [Rank " + rank +
         "] Watchdog caught collective operation timeout: WorkNCCL(" + work +
         ", Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n";
}

std::string failed(const std::string& rank, const std::string& group, const std::string& work,
                   const std::string& enqueued, const std::string& completed) {
  return "[rank" + rank + "]:[E626 06:24:44.9 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID " +
         group + " Rank " + rank + "]  failure detected by watchdog at work sequence id: " + work +
         " PG status: last enqueued work: " + enqueued + ", last completed work: " + completed +
         "\n";
}

std::string asked_to_dump(const std::string& rank, const std::string& enqueued,
                          const std::string& completed) {
  return "[rank" + rank +
         "]:[E1128 21:11:49.0 ProcessGroupNCCL.cpp:1870] [PG ID 0 PG GUID 0(default_pg) Rank " +
         rank + "] Received a dump signal due to a collective timeout from  rank 1 and we will " +
         "try our best to dump the debug info. Last enqueued NCCL work: " + enqueued +
         ", last completed NCCL work: " + completed + ".This is most likely caused by\n";
}

TEST(Watchdog, ARankThatHasDoneAllItAskedForDidNotCome) {
  const Told told =
      told_of(caught("1", "SeqNum=22, OpType=ALLREDUCE, NumelIn=1, NumelOut=1") +
              failed("1", "0(default_pg)", "22", "22", "21") +
              failed("2", "0(default_pg)", "22", "22", "21") + asked_to_dump("0", "21", "21"));
  const auto found = hangs({told});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].missing, ElementsAre(0));
  EXPECT_EQ(sentence_of(found[0]),
            "rank 0 did not join collective 22 that PyTorch's watchdog names (all_reduce), in "
            "which ranks 1, 2 wait; its last was 21");
}

TEST(Watchdog, GroupsAreKeptApart) {
  // Numbers count in each group: rank 2 in 7 of group 9 is not behind rank 0 in 40 of all.
  const Told told = told_of(caught("0", "SeqNum=40, OpType=ALLREDUCE, NumelIn=8, NumelOut=8") +
                            failed("0", "0(default_pg)", "40", "41", "39") +
                            caught("2", "SeqNum=7, OpType=_ALLGATHER_BASE, NumelIn=4") +
                            failed("2", "9", "7", "7", "6"));
  const auto found = hangs({told});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(sentence_of(found[0]),
            "rank 2 stands in collective 7 of process group 9 that PyTorch's watchdog names "
            "(all_gather), and of others no line of it tells");
  EXPECT_THAT(found[1].waiting, ElementsAre(0));
}

TEST(Watchdog, RanksThatOnlySpeakAreCounted) {
  const Told told = told_of(failed("1", "0(default_pg)", "22", "22", "21") +
                            "[rank6]:[E626 06:24:44.9 ProcessGroupNCCL.cpp:684] [Rank 6] To "
                            "avoid data inconsistency\n");
  EXPECT_EQ(sentence_of(hangs({told})[0]),
            "rank 1 stands in collective 22 that PyTorch's watchdog names, and of at least 6 more "
            "no line of it tells");
}

TEST(Watchdog, RanksInLaterCollectivesAreNamed) {
  const Told told = told_of(caught("0", "SeqNum=12, OpType=ALLREDUCE") +
                            caught("1", "SeqNum=11, OpType=ALLREDUCE"));
  EXPECT_EQ(sentence_of(hangs({told})[0]),
            "rank 1 stands in collective 11 that PyTorch's watchdog names (all_reduce), rank 0 in "
            "12");
}

TEST(Watchdog, OtherNumbersOfElementsAreAMismatch) {
  const Told told = told_of(caught("0", "SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1") +
                            caught("1", "SeqNum=5, OpType=ALLREDUCE, NumelIn=64, NumelOut=64"));
  EXPECT_THAT(sentence_of(hangs({told})[0]),
              HasSubstr("they do not ask for the same: rank 0 asks for all_reduce of 1 elements, "
                        "rank 1 asks for all_reduce of 64 elements"));
}

TEST(Watchdog, CollectivesThatPyTorchComparedAreTheProgram) {
  const Told told = told_of(
      "[rank1]: RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running "
      "collective: CollectiveFingerPrint(SequenceNumber=31, OpType=ALLREDUCE, TensorShape=[20, "
      "10], "
      "TensorDtypes=Float), but Rank 0 is running collective: "
      "CollectiveFingerPrint(SequenceNumber=0OpType=REDUCE).Collectives differ\n");
  EXPECT_EQ(
      sentence_of(hangs({told})[0]),
      "ranks 0, 1 stand in collective 31 that PyTorch compared between ranks (reduce), and of "
      "others no line of it tells; they do not ask for the same: rank 1 asks for all_reduce "
      "of 200 elements");
}

TEST(Watchdog, RanksThatStandInNothingAreSaid) {
  const Told told = told_of(asked_to_dump("0", "21", "21") + asked_to_dump("1", "21", "21"));
  EXPECT_TRUE(hangs({told}).empty());
  EXPECT_THAT(operations::idle_ranks({told}), HasSubstr("but ranks 0, 1 have done all that they"));
}

}  // namespace
}  // namespace tw::standing
