// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/missing.h"

#include "trainwire/operations/imported.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Operation asked(int rank, std::string group, std::int64_t number, State state) {
  return {.rank = rank,
          .group = std::move(group),
          .group_size = 2,
          .op = "all_reduce",
          .sequence = number,
          .bytes = 4096,
          .state = state};
}

Told dump(int rank, std::vector<Operation> operations) {
  return {.path = "fr_" + std::to_string(rank),
          .kind = "flight_recorder",
          .records = operations.size(),
          .rank = rank,
          .operations = std::move(operations)};
}

std::string verdict_text(std::vector<Told> told) {
  record::Run run;
  add_to(run, imported(std::move(told)));
  return run.verdict->text;
}

TEST(Missing, WhoStandsElsewhereIsNotTheCause) {
  // Rank 3 stopped. Rank 2 waits for it in their group, and so does not come to "data", where rank 0 waits for rank 2.
  const std::vector<Told> told = {
      dump(0, {asked(0, "data", 1, State::Completed), asked(0, "data", 2, State::Started)}),
      dump(2, {asked(2, "data", 1, State::Completed), asked(2, "tensor", 1, State::Completed),
               asked(2, "tensor", 2, State::Started)}),
      dump(3, {asked(3, "tensor", 1, State::Completed)})};
  const std::vector<Hang> found = hangs(told);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].group, "tensor");
  EXPECT_THAT(found[0].missing, ElementsAre(3));
  EXPECT_THAT(found[1].missing, ElementsAre(2));
  EXPECT_THAT(verdict_text(told), StartsWith("Rank 3 did not join collective 2 of group tensor"));
}

TEST(Missing, WithoutAllDumpsTheNetworkIsNotNamed) {
  const std::string text = verdict_text({dump(0, {asked(0, "0", 1, State::Started)})});
  EXPECT_THAT(text, HasSubstr("1 of its ranks left no dump. Give their dumps too"));
}

TEST(Missing, LinesOfTheWatchdogAreNoDumps) {
  Told log{.path = "log", .kind = "nccl_log", .records = 1};
  log.operations = {asked(3, "watchdog", 125, State::Started)};
  log.operations[0].group_size = 4;
  EXPECT_THAT(
      verdict_text({log}),
      StartsWith("Rank 3 stands in collective 125 that PyTorch's watchdog names (all_reduce "
                 "of 4,096 bytes), and of at least 3 more no line of it tells"));
}

TEST(Missing, SaysThatNobodyIs) {
  const std::vector<Told> told = {dump(0, {asked(0, "0", 1, State::Completed)}),
                                  dump(1, {asked(1, "0", 1, State::Completed)})};
  EXPECT_THAT(verdict_text(told), StartsWith("Nobody is missing: every collective"));
}

TEST(Missing, MessagesThatDidNotEndAreTold) {
  Operation send = asked(0, "0", 1, State::Started);
  send.op = "send";
  send.peer = 1;
  EXPECT_THAT(verdict_text({dump(0, {send})}),
              StartsWith("1 sends and receives did not end, first a send of rank 0 to rank 1."));
}

}  // namespace
}  // namespace tw::operations
