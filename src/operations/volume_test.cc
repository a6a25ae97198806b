// SPDX-License-Identifier: Apache-2.0
// A job of four ranks and one channel: a broadcast of 1 MiB and an all-reduce of 16 MiB, whose messages ring_messages_test.cc counts.
#include "trainwire/operations/findings.h"
#include "trainwire/operations/ring_messages.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kBroadcast = 3 * kMiB + 6 * kSizeWord_bytes;
constexpr std::int64_t kAllReduce = 6 * 16 * kMiB + 96 * kSizeWord_bytes;

Imported job() {
  std::vector<Told> told;
  for (int rank = 0; rank < 4; ++rank) {
    Told file{.kind = "nccl_log"};
    for (const auto& [op, bytes] :
         {std::pair{"broadcast", kMiB}, std::pair{"all_reduce", 16 * kMiB}}) {
      Operation each{.rank = rank,
                     .group = "all",
                     .group_size = 4,
                     .op = op,
                     .bytes = bytes,
                     .dtype = "float"};
      if (rank == 0) {  // only it tells
        each.algorithm = "ring";
        each.protocol = "simple";
        each.channels = 1;
      }
      file.operations.push_back(each);
    }
    file.wiring.version = "2.28.9+cuda13.0";
    file.wiring.ranks = 4;
    file.wiring.ways.push_back({.from = rank, .to = (rank + 1) % 4, .transport = "NET/Socket/0"});
    told.push_back(std::move(file));
  }
  Imported made = imported(std::move(told));
  // Four lanes that open, broadcast, pause, and sum; and a store that carries little.
  for (int lane = 0; lane < 4; ++lane) {
    const std::int64_t broadcast = lane < 3 ? kBroadcast / 3 : 0;
    made.connections.push_back(
        {.bytes = kOpening_bytes + broadcast + kAllReduce / 4,
         .is_one_way = true,
         .moved = {{0, 10, kOpening_bytes + broadcast}, {20, 90, kAllReduce / 4}}});
  }
  made.connections.push_back({.bytes = 777});
  return made;
}

std::string volume_of(const Imported& imported) {
  record::Run run;
  for (const Connection& each : imported.connections)
    run.pairs.push_back({.stream_bytes = static_cast<std::uint64_t>(each.bytes)});
  add_volume(run, imported);
  return run.findings.empty() ? "" : run.findings.front().text;
}

TEST(Volume, EveryByteOfPacketsIsAccountedFor) {
  const std::string text = volume_of(job());
  EXPECT_THAT(
      text,
      HasSubstr("packets carry 103,810,261 bytes: 103,809,024 that NCCL's ring moves for the 2 "
                "operations of its log, to the byte"));
  EXPECT_THAT(
      text, HasSubstr("408 in 102 sizes of messages, 52 in the openings of 4 connections, 777 in "
                      "other connections; after 2 of 2 operations packets pause at the very byte"));
}

// The tree 1 - 0 - 2 - 3 has two edges in common with the ring, in one direction each: 16 bytes and a size go over either.
TEST(Volume, ABarrierGoesOverEdgesThatTreeAndRingHaveInCommon) {
  Imported with_barrier = job();
  for (Told& file : with_barrier.told) {
    Operation barrier = file.operations.back();
    barrier.bytes = 4;
    if (!barrier.algorithm.empty()) {
      barrier.algorithm = "tree";
      barrier.protocol = "ll";
    }
    file.operations.push_back(barrier);
  }
  with_barrier.wiring.rings[0] = {0, 1, 2, 3};
  with_barrier.wiring.tree_edges = {{0, -1}, {1, 0}, {2, 0}, {3, 2}};
  for (const int lane : {0, 2}) {
    with_barrier.connections[static_cast<std::size_t>(lane)].bytes += 20;
    with_barrier.connections[static_cast<std::size_t>(lane)].moved.push_back({200, 201, 20});
  }
  EXPECT_THAT(volume_of(with_barrier), AllOf(HasSubstr("the 3 operations of its log, to the byte"),
                                             HasSubstr("after 3 of 3 operations")));
}

TEST(Volume, ByteThatIsMissingIsSaid) {
  Imported short_by_one = job();
  --short_by_one.connections.front().bytes;
  const std::string text = volume_of(short_by_one);
  EXPECT_THAT(text, Not(HasSubstr("to the byte")));
  EXPECT_THAT(text, HasSubstr("1 bytes fewer are not accounted for"));
}

TEST(Volume, BytesThatTheCaptureLostCountToo) {
  Imported lossy = job();
  lossy.connections.front().bytes -= 1448;
  lossy.connections.front().missing_bytes = 1448;
  EXPECT_THAT(volume_of(lossy),
              AllOf(HasSubstr("103,808,813 bytes, and 1,448 that the capture lost"),
                    HasSubstr("to the byte")));
}

TEST(Volume, OneRanksLogSpeaksOnlyOfWhatAgrees) {
  Imported alone = job();
  alone.told.resize(1);
  EXPECT_THAT(volume_of(alone), HasSubstr("to the byte"));
  ++alone.connections.front().bytes;
  EXPECT_EQ(volume_of(alone), "");
}

TEST(Volume, OfVersionsWithOtherRulesTheRestIsAShare) {
  Imported old = job();
  old.wiring.version = "2.18.5";
  EXPECT_THAT(volume_of(old), HasSubstr("packets carry 103,810,261 (+0.00"));
}

TEST(Volume, WaysInsideAHostAreNotCompared) {
  Imported inside = job();
  inside.wiring.ways.front().transport = "P2P/IPC";
  EXPECT_EQ(volume_of(inside), "");
}

TEST(Volume, SeveralSocketsOpenSeveralConnections) {
  Imported several = job();
  several.wiring.sockets = 1;
  for (int i = 0; i < 4; ++i) several.connections.push_back({.bytes = 600, .is_one_way = true});
  const std::string text = volume_of(several);
  EXPECT_THAT(text, HasSubstr("104 in the openings of 8 connections"));
}

}  // namespace
}  // namespace tw::operations
