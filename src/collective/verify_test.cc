// SPDX-License-Identifier: Apache-2.0
// That the verifier can fail: every single-transfer mutation of every strategy is found.
#include "trainwire/collective/verify.h"

#include "trainwire/collective/test_grid.h"

#include <gmock/gmock.h>

namespace tw::collective {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

Strand as_strand(const Transfer& t) {
  return {.round = t.round,
          .from = t.from,
          .to = t.to,
          .chunk = t.chunk,
          .combine = t.combine,
          .width = t.width};
}

/// `like`, but with the given transfers in the programs of both ends.
Schedule with_transfers(const Schedule& like, const std::vector<Transfer>& transfers) {
  Schedule result = like;
  result.program = [transfers](int rank) {
    Program program;
    for (const Transfer& t : transfers) {
      if (t.from == rank || t.to == rank) program.push_back(as_strand(t));
    }
    return program;
  };
  return result;
}

/// A schedule for each strategy on 6 ranks and 3 hosts, servers synchronous and not.
std::vector<Schedule> samples() {
  std::vector<Schedule> result;
  for (const Strategy& strategy : catalogue()) {
    const Arrangement arrangement{.layout = evenly(6, 3), .servers = 2, .pieces = 2, .seed = 3};
    result.push_back(strategy.make(arrangement));
  }
  result.push_back(ps({.layout = evenly(6, 3), .servers = 2, .asynchronous = true}));
  result.push_back(broadcast(evenly(6, 3)));
  return result;
}

TEST(Faults, AreNoneForTheSamples) {
  for (const Schedule& schedule : samples()) {
    EXPECT_THAT(faults(schedule), IsEmpty()) << schedule.strategy;
    EXPECT_THAT(faults(with_transfers(schedule, all_transfers(schedule))), IsEmpty())
        << schedule.strategy;
  }
}

TEST(Faults, FindEveryDroppedTransfer) {
  for (const Schedule& schedule : samples()) {
    const std::vector<Transfer> all = all_transfers(schedule);
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<Transfer> fewer = all;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_THAT(faults(with_transfers(schedule, fewer)), Not(IsEmpty()))
          << schedule.strategy << " without transfer " << i;
    }
  }
}

TEST(Faults, FindEveryRepeatedTransfer) {
  for (const Schedule& schedule : samples()) {
    const std::vector<Transfer> all = all_transfers(schedule);
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<Transfer> more = all;
      more.push_back(all[i]);
      EXPECT_THAT(faults(with_transfers(schedule, more)), Not(IsEmpty()))
          << schedule.strategy << " with transfer " << i << " twice";
    }
  }
}

TEST(Faults, FindEveryChangedCombination) {
  for (const Schedule& schedule : samples()) {
    const std::vector<Transfer> all = all_transfers(schedule);
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<Transfer> changed = all;
      changed[i].combine = all[i].combine == Combine::Replace ? Combine::Sum : Combine::Replace;
      EXPECT_THAT(faults(with_transfers(schedule, changed)), Not(IsEmpty()))
          << schedule.strategy << " with transfer " << i << " combined otherwise";
    }
  }
}

TEST(Faults, FindEveryResultSentToAnotherRank) {
  // Only results: a sum that takes another way to the root is no fault.
  for (const Schedule& schedule : samples()) {
    const std::vector<Transfer> all = all_transfers(schedule);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].combine == Combine::Sum) continue;
      std::vector<Transfer> changed = all;
      do {
        changed[i].to = (changed[i].to + 1) % schedule.ranks;
      } while (changed[i].to == changed[i].from);
      EXPECT_THAT(faults(with_transfers(schedule, changed)), Not(IsEmpty()))
          << schedule.strategy << " with transfer " << i << " sent elsewhere";
    }
  }
}

TEST(Faults, FindWhatOnlyOneEndKnows) {
  for (const Schedule& schedule : samples()) {
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      Schedule changed = schedule;
      changed.program = [&schedule, rank](int asked) {
        return asked == rank ? Program{} : schedule.program(asked);
      };
      EXPECT_THAT(faults(changed), Contains(HasSubstr(": the ")))
          << schedule.strategy << " without the program of rank " << rank;
    }
  }
}

TEST(Faults, FindATransferInTheProgramOfAThirdRank) {
  Schedule schedule = ring({.layout = evenly(3, 3)});
  schedule.program = [original = schedule.program](int rank) {
    Program program = original(rank);
    if (rank == 0) program.push_back(original(1).front());
    return program;
  };
  // Rank 1's first strand goes to rank 2 in rounds 0 and 1.
  EXPECT_THAT(
      faults(schedule),
      ElementsAre("round 0: chunk 1 from rank 1 to rank 2: stands in the program of rank 0",
                  "round 1: chunk 0 from rank 1 to rank 2: stands in the program of rank 0"));
}

TEST(Faults, FindWrongRoundsAndDepth) {
  for (const Schedule& schedule : samples()) {
    Schedule longer = schedule;
    longer.rounds += 1;
    EXPECT_THAT(faults(longer), Contains(HasSubstr("rounds are stated"))) << schedule.strategy;
    Schedule shorter = schedule;
    shorter.rounds -= 1;
    EXPECT_THAT(faults(shorter), Contains(HasSubstr("outside of the"))) << schedule.strategy;
    Schedule deeper = schedule;
    deeper.depth += 1;
    EXPECT_THAT(faults(deeper), SizeIs(1)) << schedule.strategy;
  }
}

/// Two ranks, one chunk, and the given transfers.
Schedule pair_of(std::vector<Transfer> transfers, std::int64_t rounds, std::int64_t depth) {
  const Schedule like{.strategy = "test",
                      .goal = Goal::AllReduce,
                      .ranks = 2,
                      .workers = 2,
                      .chunks = 1,
                      .rounds = rounds,
                      .depth = depth,
                      .program = {}};
  return with_transfers(like, transfers);
}

TEST(Faults, FindACopyThatIsReadInTheRoundThatSumsIntoIt) {
  // Both send to each other at once, but one adds and the other replaces: no exchange.
  const Schedule crossed =
      pair_of({{0, 0, 1, 0, 1, Combine::Sum}, {0, 1, 0, 0, 1, Combine::Replace}}, 1, 1);
  EXPECT_THAT(
      faults(crossed),
      IsSupersetOf({"round 0: chunk 0 from rank 0 to rank 1: the copy is read in this round",
                    "round 0: chunk 0 from rank 1 to rank 0: the copy is read in this round"}));
}

TEST(Faults, NameTheContributionAndHowOftenItIsHeld) {
  const Schedule twice = pair_of({{0, 0, 1, 0, 1, Combine::Sum},
                                  {1, 0, 1, 0, 1, Combine::Sum},
                                  {2, 1, 0, 0, 1, Combine::Replace}},
                                 3, 2);
  EXPECT_THAT(faults(twice), ElementsAre("rank 0 holds worker 0's contribution to chunk 0 twice",
                                         "rank 1 holds worker 0's contribution to chunk 0 twice"));
  const Schedule one_way = pair_of({{0, 0, 1, 0, 1, Combine::Sum}}, 1, 1);
  EXPECT_THAT(faults(one_way),
              ElementsAre("rank 0 holds worker 1's contribution to chunk 0 not at all"));
}

TEST(Faults, FindASelfSendAndAWindowPastTheEnd) {
  EXPECT_THAT(faults(pair_of({{0, 1, 1, 0, 1, Combine::Sum}}, 1, 1)),
              Contains(HasSubstr("a rank sends to itself")));
  EXPECT_THAT(faults(pair_of({{0, 0, 1, 0, 2, Combine::Sum}}, 1, 1)),
              Contains(HasSubstr("chunks 0 to 1 from rank 0 to rank 1: outside of the 1 chunks")));
}

/// Two ranks and what they send each other in one round.
Schedule of_two(const std::vector<Transfer>& transfers) {
  Schedule schedule = recursive_doubling({.layout = evenly(2, 2)});
  schedule.chunks = 2;
  return with_transfers(schedule, transfers);
}

TEST(Faults, AllowTwoRanksToExchangeTheSameChunks) {
  const Transfer there{
      .round = 0, .from = 0, .to = 1, .chunk = 0, .width = 2, .combine = Combine::Sum};
  Transfer back = there;
  std::swap(back.from, back.to);
  EXPECT_THAT(faults(of_two({there, back})), IsEmpty());
}

TEST(Faults, FindAnExchangeOfChunksThatAreNotTheSame) {
  // Chunk 0 of rank 1 is read by a transfer that is not the way back of the one that adds to it.
  const Transfer there{
      .round = 0, .from = 0, .to = 1, .chunk = 0, .width = 2, .combine = Combine::Sum};
  const Transfer one{
      .round = 0, .from = 1, .to = 0, .chunk = 0, .width = 1, .combine = Combine::Sum};
  Transfer other = one;
  other.chunk = 1;
  EXPECT_THAT(faults(of_two({there, one, other})), Contains(HasSubstr("is read in this round")));
}

TEST(Faults, FindAnExchangeThatSomebodyElseReads) {
  // Rank 2 reads what ranks 0 and 1 exchange.
  Schedule three = recursive_doubling({.layout = evenly(2, 2)});
  three.ranks = three.workers = 3;
  const Transfer there{
      .round = 0, .from = 0, .to = 1, .chunk = 0, .width = 1, .combine = Combine::Sum};
  Transfer back = there;
  std::swap(back.from, back.to);
  Transfer read = there;
  read.to = 2;
  EXPECT_THAT(faults(with_transfers(three, {there, back, read})),
              Contains(HasSubstr("is read in this round")));
}

TEST(Faults, StopAtTwenty) {
  Schedule schedule = clique({.layout = evenly(8, 8)});
  schedule.program = [](int) { return Program{}; };
  EXPECT_THAT(faults(schedule), SizeIs(20));
}

TEST(Faults, RefuseAScheduleWithoutWorkers) {
  Schedule schedule = ring({.layout = evenly(2, 2)});
  schedule.workers = 0;
  EXPECT_THAT(faults(schedule), ElementsAre(HasSubstr("are no schedule")));
}

TEST(Faults, FindAPushThatIsRightInOneInterleavingOnly) {
  // Worker 0 pushes first and finds the server empty, so replacing does no harm in that order.
  Schedule schedule = ps({.layout = evenly(3, 3), .asynchronous = true});
  std::vector<Transfer> transfers = all_transfers(schedule);
  transfers.front().combine = Combine::Replace;
  EXPECT_THAT(faults(with_transfers(schedule, transfers)),
              Contains(HasSubstr("with the workers in reverse: ")));
}

TEST(Faults, FindAsynchronousTransfersBetweenWorkers) {
  Schedule schedule = ps({.layout = evenly(3, 3), .asynchronous = true});
  std::vector<Transfer> transfers = all_transfers(schedule);
  // Worker 1, whose copy now is the server's last one, gives it to worker 0.
  transfers.push_back({4, 1, 0, 0, 1, Combine::Replace});
  schedule.rounds = 5;
  schedule.depth = 3;
  EXPECT_THAT(faults(with_transfers(schedule, transfers)),
              ElementsAre(HasSubstr("does not join a worker and a server")));
}

}  // namespace
}  // namespace tw::collective
