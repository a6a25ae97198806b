// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/schedule.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace tw::collective {
namespace {

using testing::ElementsAre;

Schedule with_program(int ranks, int chunks, Program program) {
  return {.strategy = "test",
          .goal = Goal::AllReduce,
          .ranks = ranks,
          .workers = ranks,
          .chunks = chunks,
          .rounds = 100,
          .depth = 100,
          .program = [program](int) { return program; }};
}

TEST(Transfer, WrapsRanksAndChunksAround) {
  const Strand strand{.round = 5,
                      .from = 1,
                      .to = 2,
                      .chunk = 1,
                      .combine = Combine::Sum,
                      .count = 4,
                      .round_stride = 2,
                      .to_stride = 1,
                      .chunk_stride = -1};
  const Schedule schedule = with_program(4, 3, {strand});
  // Number 3: round 5 + 3*2, to (2 + 3) mod 4, chunk (1 - 3) mod 3.
  EXPECT_EQ(
      transfer(schedule, strand, 3),
      (Transfer{.round = 11, .from = 1, .to = 1, .chunk = 1, .width = 1, .combine = Combine::Sum}));
}

TEST(TransfersOf, OrdersByRoundThenSendsThenPeerThenChunk) {
  const auto one = [](std::int64_t round, int from, int to, int chunk) {
    return Strand{
        .round = round, .from = from, .to = to, .chunk = chunk, .combine = Combine::Replace};
  };
  const Schedule schedule = with_program(4, 3,
                                         {one(1, 0, 1, 0), one(0, 2, 0, 1), one(0, 0, 3, 0),
                                          one(0, 0, 1, 2), one(0, 0, 1, 1), one(0, 1, 0, 0)});
  std::vector<std::string> order;
  for (const Transfer& t : transfers_of(schedule, 0)) {
    order.push_back(std::to_string(t.round) + ":" + std::to_string(t.from) + ">" +
                    std::to_string(t.to) + "#" + std::to_string(t.chunk));
  }
  EXPECT_THAT(order, ElementsAre("0:0>1#1", "0:0>1#2", "0:0>3#0", "0:1>0#0", "0:2>0#1", "1:0>1#0"));
}

TEST(TransfersOf, RefusesARankThatTheScheduleLacks) {
  const Schedule schedule = with_program(2, 1, {});
  EXPECT_THROW(transfers_of(schedule, 2), std::logic_error);
  EXPECT_THROW(transfers_of(schedule, -1), std::logic_error);
}

TEST(Chunks, CoverThePayloadAndDifferByAtMostOne) {
  for (const std::int64_t elements : {0LL, 1LL, 6LL, 7LL, 10'007LL, 25'557'032LL}) {
    for (const int chunks : {1, 2, 3, 7, 33}) {
      EXPECT_EQ(chunk_begin(elements, chunks, 0), 0);
      EXPECT_EQ(chunk_begin(elements, chunks, chunks), elements);
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const std::int64_t size = chunk_elements(elements, chunks, chunk);
        EXPECT_EQ(chunk_begin(elements, chunks, chunk + 1),
                  chunk_begin(elements, chunks, chunk) + size);
        EXPECT_GE(size, elements / chunks);
        EXPECT_LE(size, elements / chunks + 1);
      }
    }
  }
}

TEST(Chunks, AreLongerAtTheFront) {
  // 7 elements in 3 chunks: 3, 2, 2.
  EXPECT_EQ(chunk_elements(7, 3, 0), 3);
  EXPECT_EQ(chunk_elements(7, 3, 1), 2);
  EXPECT_EQ(chunk_begin(7, 3, 2), 5);
}

}  // namespace
}  // namespace tw::collective
