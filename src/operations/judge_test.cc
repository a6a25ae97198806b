// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/judge.h"

#include "trainwire/operations/summary.h"
#include "trainwire/operations/test_jobs.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;

record::Run run_of(std::vector<Told> told) {
  record::Run run;
  add_to(run, imported(std::move(told)));
  return run;
}

TEST(Judge, RanksWithoutFilesMayBeWhatLooksLikeTransfer) {
  // Rank 3 comes 60 ms late, and only ranks 0 and 1 gave files.
  std::vector<Told> told = traces_of({.late_rank = 3, .late_ns = 60'000'000});
  told.resize(2);
  const Imported made = imported(told);
  const record::Run run = run_of(told);
  EXPECT_THAT(run.verdict->confidence, Lt(0.5));
  EXPECT_THAT(run.verdict->text,
              AllOf(HasSubstr("one of the 2 ranks that gave no file"), HasSubstr("all 4 ranks")));
  EXPECT_THAT(record::part_s(*run.accounting, "unexplained"), DoubleNear(0.080, 1e-9));
  EXPECT_THAT(imported_text(run, made, "", ""),
              HasSubstr("data quality     fair · times of 2 of 4 ranks"));
  EXPECT_THAT(imported_text(run_of(traces_of({})), made, "", ""), Not(HasSubstr("data quality")));
}

TEST(Judge, RanksThatAreLateInTurnAreNotTheNetwork) {
  // Eight steps, in each another of four ranks 40 ms after the others: 30 ms of waiting, 20 of transfer.
  const record::Run run = run_of(traces_of({.steps = 8, .late_ns = 40'000'000, .in_turn = true}));
  EXPECT_THAT(run.verdict->text, HasSubstr("ranks are late in turn, and wait 30 ms of a step of"));
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_FALSE(run.straggler);
}

TEST(Judge, TwoRanksThatTakeTurnsAreBothNamed) {
  // Ranks 0 to 3 are late in turn; what ranks 0 and 2 are late by is taken from steps 0, 2, 4 and 6.
  std::vector<Told> told = traces_of({.steps = 8, .late_ns = 60'000'000, .in_turn = true});
  for (Told& file : told) {
    for (std::size_t step = 0; step < file.operations.size(); step += 2) {
      Operation& each = file.operations[step];
      each.start_ns = *each.end_ns - 20'000'000;
    }
  }
  const record::Run run = run_of(told);
  EXPECT_THAT(run.verdict->text, HasSubstr("ranks 1 and 3 are late in turn, and ranks wait"));
  EXPECT_FALSE(run.straggler);
}

TEST(Judge, TimeInSendsAndReceivesIsNotComputing) {
  // 60 of 80 ms before the all-reduce are in a message, of which ranks have different numbers.
  std::vector<Told> told = traces_of({.transfer_ns = 1'000'000});
  for (Told& file : told) {
    const std::vector<Operation> collectives = file.operations;
    for (std::size_t i = 0; i < collectives.size(); ++i) {
      const std::int64_t end = *collectives[i].start_ns;
      file.computing[i].end_ns -= 60'000'000;
      const int parts = *file.rank + 1;
      for (int part = 0; part < parts; ++part) {
        Operation message = collectives[i];
        message.op = "sendrecv";
        message.start_ns = end - 60'000'000 + part * 60'000'000 / parts;
        message.end_ns = end - 60'000'000 + (part + 1) * 60'000'000 / parts;
        file.operations.push_back(message);
      }
    }
  }
  const Imported made = imported(told);
  EXPECT_EQ(made.arrivals.size(), 5U);
  EXPECT_THAT(made.balance->apart_s, DoubleNear(0.060, 1e-9));
  const record::Run run = run_of(told);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, AllOf(HasSubstr("60 ms of a step of 81 ms go to sends"),
                                       Not(HasSubstr("Not the network"))));
  EXPECT_THAT(record::part_s(*run.accounting, "compute"), DoubleNear(0.020, 1e-9));
  EXPECT_THAT(record::part_s(*run.accounting, "unexplained"), DoubleNear(0.060, 1e-9));
}

/// Ranks 0 and 1, 2 and 3 exchange after computing (tensor), then 0 and 2, 1 and 3 (data), in each step; rank 2 computes
/// 40 ms longer. Each exchange takes 10 ms.
std::vector<Told> two_by_two(const std::vector<std::int64_t>& clock_ns = {}) {
  std::vector<Told> told = traces_of(
      {.transfer_ns = 20'000'000, .late_rank = 2, .late_ns = 40'000'000, .clock_ns = clock_ns});
  for (Told& file : told) {
    const int rank = *file.rank;
    const std::vector<Operation> whole = file.operations;
    file.operations.clear();
    for (const Operation& each : whole) {
      const std::int64_t end = *each.end_ns;
      Operation tensor = each;
      tensor.group = rank < 2 ? "tensor 0" : "tensor 1";
      tensor.group_size = 2;
      tensor.end_ns = rank < 2 ? end - 50'000'000 : end - 10'000'000;
      Operation data = tensor;
      data.group = rank % 2 == 0 ? "data 0" : "data 1";
      data.start_ns = tensor.end_ns;
      data.end_ns = end;
      file.operations.push_back(tensor);
      file.operations.push_back(data);
    }
  }
  return told;
}

TEST(Judge, LatenessThatGoesThroughGroupsCountsOnce) {
  const Imported made = imported(two_by_two());
  EXPECT_EQ(made.arrivals.size(), 20U);
  // Of four ranks, 3 waits 40 ms for 2 and then 0 and 1 wait for 2 and 3: 30 ms of the mean rank; two exchanges.
  EXPECT_THAT(made.balance->wait_s, DoubleNear(0.030, 1e-9));
  EXPECT_THAT(made.balance->transfer_s, DoubleNear(0.020, 1e-9));
  ASSERT_TRUE(made.balance->late);
  EXPECT_EQ(made.balance->late->rank, 2);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
  EXPECT_THAT(made.balance->late->share, DoubleNear(1, 1e-6));
}

TEST(Judge, RanksWithoutACommonGroupArePutOnOneClock) {
  // Ranks 0 and 3 share no group: 3 is compared with 1 and 2, which share one with 0.
  const Imported made = imported(two_by_two({0, 0, 50'000'000, 50'000'000}));
  EXPECT_EQ(made.told[2].clock_offset_ns, 50'000'000);
  EXPECT_EQ(made.told[3].clock_offset_ns, 50'000'000);
  ASSERT_TRUE(made.balance->late);
  EXPECT_EQ(made.balance->late->rank, 2);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
}

TEST(Judge, StepsThatNotAllRanksRecordedDoNotDilute) {
  // Ranks 1 to 3 recorded 4 of 10 steps.
  std::vector<Told> told = traces_of({.steps = 10, .late_rank = 2, .late_ns = 40'000'000});
  for (std::size_t rank = 1; rank < told.size(); ++rank) {
    told[rank].operations.resize(4);
    told[rank].steps.resize(4);
  }
  const Imported made = imported(told);
  EXPECT_EQ(made.balance->steps, 4U);
  EXPECT_THAT(made.balance->wait_s, DoubleNear(0.030, 1e-9));
  EXPECT_THAT(made.balance->transfer_s, DoubleNear(0.020, 1e-9));
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
}

TEST(Judge, AGroupOfUntoldSizeIsTheJobOrTheFiles) {
  std::vector<Told> told = traces_of({});
  for (Told& file : told) {
    for (Operation& each : file.operations) {
      each.group.clear();
      each.group_size = 0;
    }
  }
  // 50 MB * 1.5 * 8 bit in 20 ms for four files; in a job of 8 ranks the factor is 1.75, and 4 are missing.
  EXPECT_THAT(*run_of(told).operations->by_op[0].busbw_bps, DoubleNear(30e9, 1));
  told[1].world_size = 8;
  const record::Run run = run_of(told);
  EXPECT_THAT(*run.operations->by_op[0].busbw_bps, DoubleNear(35e9, 1));
  EXPECT_THAT(run.verdict->text, HasSubstr("one of the 4 ranks that gave no file"));
}

TEST(Judge, FilesOfTheSameRankOrOfNobodyAreNoted) {
  const auto notes_of = [](std::vector<Told> told) {
    std::string notes;
    for (const record::Finding& each : run_of(std::move(told)).findings) {
      if (each.kind == "note") notes += each.text + "\n";
    }
    return notes;
  };
  std::vector<Told> told = traces_of({});
  EXPECT_EQ(notes_of(told), "");
  told.push_back(told[0]);
  told.back().path = "again";
  EXPECT_EQ(notes_of(told),
            "again is of rank 0, as rank0 is: only the one that tells more counts\n");
  // It counts nowhere: 50 MB in each of 5 steps.
  EXPECT_EQ(run_of(told).operations->by_op[0].bytes, 250'000'000U);
  told.pop_back();
  for (Told& file : told) {
    file.kind = "flight_recorder";
    file.rank.reset();
  }
  EXPECT_THAT(notes_of(told), HasSubstr("rank0 and 3 more have no rank in their names"));
}

// Rank 1 is 400 ms late in one of eight steps: 50 ms of a mean step of 150, for the usual one takes 100.
TEST(Judge, ARankThatIsLateInAFewStepsIsNotLateInEach) {
  const record::Run run =
      run_of(traces_of({.steps = 8, .late_rank = 1, .late_ns = 400'000'000, .late_every = 8}));
  EXPECT_EQ(run.verdict->cause, "late_rank");
  EXPECT_THAT(run.verdict->text, AllOf(HasSubstr("400 ms after the others in 1 of 8 steps"),
                                       HasSubstr("Without that a mean step would take 100 ms")));
  EXPECT_THAT(run.findings.front().text, HasSubstr("in 1 of 8 steps"));
  EXPECT_THAT(run.verdict->cost_s, DoubleNear(0.050, 1e-9));
  // Three of four ranks wait.
  EXPECT_THAT(record::part_s(*run.accounting, "late_rank"), DoubleNear(0.0375, 1e-9));
  EXPECT_THAT(record::part_s(*run.accounting, "bandwidth"), DoubleNear(0.020, 1e-9));
}

// 30 ms late, before a transfer of 80: the transfer costs more, and the rank is not passed over.
TEST(Judge, ALateRankIsNamedBesideALongerTransfer) {
  const record::Run run =
      run_of(traces_of({.transfer_ns = 80'000'000, .late_rank = 3, .late_ns = 30'000'000}));
  EXPECT_EQ(run.verdict->cause, "bandwidth");
  EXPECT_THAT(run.verdict->text,
              AllOf(HasSubstr("The network costs up to 80 ms of a step of 190 ms"),
                    HasSubstr("Besides, rank 3 comes to its collectives 30 ms after the others in "
                              "each step"),
                    Not(HasSubstr("of one another, and"))));
}

// The other way round: the rank costs more, and the transfer is more than a tenth of a step.
TEST(Judge, ATransferIsNamedBesideARankThatCostsMore) {
  const record::Run run =
      run_of(traces_of({.transfer_ns = 60'000'000, .late_rank = 3, .late_ns = 80'000'000}));
  EXPECT_EQ(run.verdict->cause, "late_rank");
  EXPECT_THAT(run.verdict->text,
              AllOf(HasSubstr("Rank 3 comes to its collectives 80 ms after the others in each"),
                    HasSubstr("Without that a step would take 140 ms"),
                    HasSubstr("Besides, the transfer costs up to 60 ms"),
                    Not(HasSubstr("Not the network"))));
}

TEST(Judge, OneRanksTraceTellsHowLongAndNotWhy) {
  std::vector<Told> told = traces_of({});
  told.resize(1);
  const record::Run run = run_of(told);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, AllOf(HasSubstr("of 4 ranks only rank 0 gave a trace"),
                                       HasSubstr("for 20 ms of a step of 100 ms")));
  // 2 of 82 ms: whatever it waits for there, the network takes no more.
  told = traces_of({.transfer_ns = 2'000'000});
  told.resize(1);
  const record::Run little = run_of(told);
  EXPECT_EQ(little.verdict->cause, "compute");
  EXPECT_THAT(little.verdict->text, HasSubstr("Not the network, as far as one trace tells"));
  EXPECT_THAT(little.verdict->confidence, Lt(0.7));
}

TEST(Judge, TracesThatAreCutOffDoNotClearTheNetwork) {
  std::vector<Told> told = traces_of({.transfer_ns = 2'000'000});
  EXPECT_EQ(run_of(told).verdict->cause, "compute");
  told[3].is_cut_off = true;
  const record::Run run = run_of(told);
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_THAT(run.verdict->text, AllOf(HasSubstr("traces end in the middle"),
                                       HasSubstr("of a step of 82 ms only 2 ms go to")));
  EXPECT_EQ(run.quality.level, "fair");
}

TEST(Judge, OneRankMayLackItsFile) {
  std::vector<Told> told = traces_of({});
  told.resize(3);
  EXPECT_THAT(run_of(told).verdict->text, HasSubstr("or the rank that gave no file and may come"));
}

TEST(Judge, WhatNcclSaysOfItsNetworkIsToldFirst) {
  Told log{.path = "log", .kind = "nccl_log", .records = 1};
  log.wiring.ranks = 2;
  log.wiring.warnings = {
      "misc: Cuda failure : something failed : x",
      "NET/IB: Got completion from peer 10.0.0.1<36315> with status=12 opcode=0"};
  const std::string text = run_of({log}).verdict->text;
  EXPECT_THAT(text, AllOf(HasSubstr("NCCL says that its network failed: NET/IB: Got completion"),
                          HasSubstr("the peer did not answer any more")));
}

TEST(Judge, AHostsFullMemoryIsNoNetwork) {
  Told log{.path = "log", .kind = "nccl_log", .records = 1};
  log.wiring.ranks = 4;
  log.wiring.warnings = {"Call to posix_fallocate failed : No space left on device"};
  const std::string text = run_of({log}).verdict->text;
  EXPECT_THAT(text, AllOf(HasSubstr("a host's shared memory failed, not its network: Call to"),
                          HasSubstr("/dev/shm")));
}

TEST(Judge, FilesThatTellNothingAreNoFlowRecords) {
  Told table{.path = "table", .kind = "nccl_tests"};
  table.wiring.ranks = 2;
  EXPECT_THAT(run_of({table}).verdict->text, HasSubstr("came to no row of its table"));
  Told bench{.path = "table", .kind = "nccl_tests", .records = 1};
  bench.operations.push_back({.op = "all_reduce", .bytes = 1, .clock = Clock::Alone});
  Told log{.path = "log", .kind = "pace_log", .records = 1};
  log.steps.push_back({.number = 1, .duration_ns = 5});
  EXPECT_THAT(run_of({bench, log}).verdict->text,
              AllOf(HasSubstr("a step is told"), HasSubstr("what the network can")));
}

TEST(Judge, OfTwoFilesOfARankTheFullerCounts) {
  std::vector<Told> told = traces_of({.late_rank = 2, .late_ns = 40'000'000});
  Told other = told[0];
  other.path = "another";
  other.operations.resize(1);
  told.insert(told.begin(), other);
  EXPECT_EQ(imported(told).arrivals.size(), 5U);
  EXPECT_EQ(run_of(told).verdict->cause, "late_rank");
}

// A profiler that recorded steps 0 to 2, then 3 to 7, into files of their own.
TEST(Judge, FilesOfARankThatFollowOneAnotherAreOne) {
  std::vector<Told> told = traces_of({.steps = 8, .late_rank = 2, .late_ns = 40'000'000});
  const std::vector<Told> whole = told;
  for (std::size_t rank = 0; rank < whole.size(); ++rank) {
    Told later = whole[rank];
    later.operations.erase(later.operations.begin(), later.operations.begin() + 3);
    later.steps.erase(later.steps.begin(), later.steps.begin() + 3);
    later.computing.erase(later.computing.begin(), later.computing.begin() + 3);
    told[rank].operations.resize(3);
    told[rank].steps.resize(3);
    told[rank].computing.resize(3);
    told.push_back(later);
  }
  const Imported made = imported(told);
  EXPECT_EQ(made.arrivals.size(), 8U);
  EXPECT_EQ(made.steps->times_s.size(), 8U);
  EXPECT_EQ(made.balance->steps, 8U);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
  EXPECT_EQ(run_of(told).operations->by_op[0].count, 8U);
}

TEST(Judge, DumpsOfNobodyWithOpenCollectivesAreNoGoodSign) {
  Told dump{.path = "trace", .kind = "flight_recorder", .records = 1};
  dump.operations.push_back({.group = "0",
                             .group_size = 2,
                             .op = "all_reduce",
                             .sequence = 5,
                             .bytes = 48,
                             .state = State::Scheduled});
  const std::string text = run_of({dump}).verdict->text;
  EXPECT_THAT(text, AllOf(HasSubstr("Collective 5 of group 0 (all_reduce of 48 bytes) did not end"),
                          HasSubstr("nccl_trace_rank_3"), Not(HasSubstr("Nobody is missing"))));
}

// Of a timeline: ranks are 40 ms late where an exchange takes 3, or the other way round.
TEST(Judge, ATimelineTellsWhoIsReadyLast) {
  Told timeline{.path = "timeline", .kind = "horovod", .rank = 0};
  timeline.operations.push_back(
      {.rank = 0, .op = "all_reduce", .start_ns = 0, .end_ns = 3'000'000});
  timeline.readiness =
      Readiness{.rank = 1, .late_s = 0.040, .share = 0.9, .waited_s = 0.041, .moved_s = 0.003};
  const record::Run late = run_of({timeline});
  EXPECT_EQ(late.verdict->cause, "late_rank");
  EXPECT_THAT(late.verdict->text, HasSubstr("Not the network: rank 1 is the last to be ready"));
  timeline.readiness->moved_s = 0.300;
  const record::Run slow = run_of({timeline});
  EXPECT_EQ(slow.verdict->cause, "unknown");
  EXPECT_THAT(slow.verdict->text, HasSubstr("300 ms for the exchange"));
}

TEST(Exposed, WhatIsHiddenIsTakenOut) {
  const std::vector<Span> hidden{{0, 5}, {20, 30}, {45, 60}};
  EXPECT_THAT(without({{0, 10}, {15, 40}, {41, 50}}, hidden),
              ElementsAre(Span{5, 10}, Span{15, 20}, Span{30, 40}, Span{41, 45}));
  EXPECT_THAT(without({{20, 30}}, hidden), ElementsAre());
}

TEST(Exposed, ASpanOverStepsIsPartOfEach) {
  const std::vector<Span> spans{{-1'000'000'000, 4'000'000'000}, {5'000'000'000, 6'000'000'000}};
  EXPECT_THAT(by_step(spans, {0, 1'000'000'000}), ElementsAre(1, 1, 4));
  EXPECT_THAT(by_step(spans, {}), ElementsAre(6));
}

struct Overlapping {
  std::int64_t late_ms = 0;      ///< of rank 1, before it computes
  std::int64_t transfer_ms = 0;  ///< of each of three collectives
};

/// Three ranks compute for 30 ms, then three pieces of 20, with a collective after each piece, beside the next one.
std::vector<Told> overlapping(const Overlapping& job) {
  const std::int64_t ms = 1'000'000;
  std::vector<Told> told(3);
  std::int64_t now = 1'700'000'000'000'000'000;
  for (int step = 0; step < 4; ++step) {
    std::int64_t free = now;
    for (std::int64_t piece = 1; piece <= 3; ++piece) {
      const std::int64_t last = std::max(free, now + (30 + 20 * piece + job.late_ms) * ms);
      for (int rank = 0; rank < 3; ++rank) {
        const std::int64_t late = rank == 1 ? job.late_ms : 0;
        const std::int64_t ready = now + (30 + 20 * piece + late) * ms;
        told[static_cast<std::size_t>(rank)].operations.push_back(
            {.rank = rank,
             .group = "0",
             .group_size = 3,
             .op = "all_reduce",
             .bytes = 1'000'000,
             .start_ns = std::max(free, ready),
             .end_ns = last + job.transfer_ms * ms});
      }
      free = last + job.transfer_ms * ms;
    }
    for (int rank = 0; rank < 3; ++rank) {
      Told& file = told[static_cast<std::size_t>(rank)];
      file.kind = "kineto";
      file.rank = rank;
      file.computing.push_back({now, now + (90 + (rank == 1 ? job.late_ms : 0)) * ms});
      file.steps.push_back(
          {.rank = rank, .number = step, .start_ns = now, .duration_ns = free - now});
    }
    now = free;
  }
  return told;
}

// Rank 1 is 40 ms late; it comes 40, 20 and 20 ms after the others, who compute on while they wait for the first.
TEST(Exposed, LatenessBesideComputingCountsOnce) {
  const Imported made = imported(overlapping({.late_ms = 40, .transfer_ms = 0}));
  EXPECT_EQ(made.balance->late->rank, 1);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
  EXPECT_THAT(made.balance->exposed_wait_s, DoubleNear(0.040 * 2 / 3, 1e-9));
  record::Run run;
  add_to(run, made);
  EXPECT_EQ(run.verdict->cause, "late_rank");
  EXPECT_THAT(run.verdict->text, HasSubstr("Without that a step would take 90 ms"));
}

// The host begins a step 60 ms before the device does: of the 90 ms that others wait in every third step, 50 are before the step in which
// the late rank comes.
TEST(Exposed, LatenessOverTheBeginningOfAStepCountsWhole) {
  std::vector<Told> told =
      traces_of({.ranks = 4, .steps = 6, .late_rank = 2, .late_ns = 90'000'000, .late_every = 3});
  for (Told& file : told) {
    for (Step& step : file.steps) {
      if (step.number > 0) *step.start_ns -= 60'000'000;
    }
  }
  const Imported made = imported(std::move(told));
  ASSERT_TRUE(made.balance->late);
  EXPECT_EQ(made.balance->late->rank, 2);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.090 * 2 / 6, 1e-9));
}

// Collectives of 20 ms follow one another: of the step of 150 ms, 40 are rank 1's, 90 computing and 20 a transfer.
TEST(Exposed, WaitingThatIsHiddenMakesTransfersLate) {
  const Imported made = imported(overlapping({.late_ms = 40, .transfer_ms = 20}));
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
  EXPECT_THAT(made.balance->exposed_wait_s, DoubleNear(0.040 * 2 / 3, 1e-9));
  EXPECT_THAT(made.balance->exposed_s() - made.balance->exposed_wait_s, DoubleNear(0.020, 1e-9));
}

// Transfers of 60 ms, one after the other: a rank that computes 5 ms longer delays the first by 5 ms, and hides 5 ms more.
TEST(Exposed, TransfersInARowAreNoWaiting) {
  const Imported made = imported(overlapping({.late_ms = 5, .transfer_ms = 60}));
  EXPECT_THAT(made.balance->exposed_wait_s, DoubleNear(0.005 * 2 / 3, 1e-9));
  record::Run run;
  add_to(run, made);
  EXPECT_EQ(run.verdict->cause, "bandwidth");
}

}  // namespace
}  // namespace tw::operations
