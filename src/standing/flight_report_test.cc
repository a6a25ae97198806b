// SPDX-License-Identifier: Apache-2.0
#include "trainwire/standing/flight_report.h"

#include "trainwire/operations/missing.h"

#include <gmock/gmock.h>

namespace tw::standing {
namespace {

using operations::Told;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string block(std::string_view title, std::string_view expected) {
  return std::string(title) +
         "\ninternal record id: 41\ngroup info: 0:default_pg\ncollective: nccl:all_reduce\n"
         "missing ranks: {2}\ninput sizes: [[1024, 2]]\noutput sizes: [[1024, 2]]\n"
         "world size: 4\nexpected ranks: " +
         std::string(expected) + "\ncollective state: scheduled\n";
}

Told read(std::string_view text) {
  Told told{.path = "x", .kind = "flight_report"};
  read_flight_report(text, told);
  return told;
}

TEST(FlightReport, NamesWhoDidNotJoinAndWhoWaits) {
  for (const std::string& text :
       {block("Not all ranks joining collective: sequence number: 42", "{0, 1, 2, 3}"),
        block("Not all ranks joining collective, sequence number: 42", "{0, 1, 2, 3}"),
        block("Not all ranks joining collective 42 at entry 41", "4")}) {
    const Told told = read(text);
    EXPECT_EQ(told.records, 1U);
    EXPECT_TRUE(is_flight_report(text));
    EXPECT_EQ(told.operations.front().elements, 2048);
    const auto found = operations::hangs({told});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].sequence, 42);
    EXPECT_THAT(found[0].missing, ElementsAre(2));
    EXPECT_THAT(found[0].waiting, ElementsAre(0, 1, 3));
    EXPECT_EQ(operations::sentence_of(found[0]),
              "rank 2 did not join collective 42 of group default_pg (all_reduce), in which ranks "
              "0, 1, 3 wait");
  }
}

TEST(FlightReport, WhatFollowsInAGroupHangsBecauseOfTheFirst) {
  const Told told =
      read(block("Not all ranks joining collective: sequence number: 42", "{0, 1, 2, 3}") +
           block("Not all ranks joining collective: sequence number: 43", "{0, 1, 2, 3}"));
  const auto found = operations::hangs({told});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].sequence, 42);
  EXPECT_THAT(found[0].missing, ElementsAre(2));
}

TEST(FlightReport, BlocksThatTellTooLittleAreCounted) {
  std::string part = block("Not all ranks joining collective 42 at entry 41", "4");
  part.replace(part.find("default_pg"), 10, "data_group");
  const Told told = read(part);
  EXPECT_THAT(told.operations, IsEmpty());
  EXPECT_EQ(told.skipped, 1U);
  EXPECT_THAT(told.reasons, ElementsAre("1 collectives of which it is not told who waits"));
}

}  // namespace
}  // namespace tw::standing
