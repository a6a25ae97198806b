// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/imported.h"

#include "trainwire/operations/findings.h"
#include "trainwire/operations/judge.h"
#include "trainwire/operations/summary.h"
#include "trainwire/operations/test_jobs.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

record::Run run_of(const MadeJob& job) {
  record::Run run;
  add_to(run, imported(traces_of(job)));
  return run;
}

TEST(Imported, SplitsACollectiveIntoWaitingAndTransfer) {
  // Rank 2 comes 40 ms after the others: three of four wait 40 ms, so the mean is 30 ms in each of 5 steps.
  const record::Run run = run_of({.late_rank = 2, .late_ns = 40'000'000});
  ASSERT_EQ(run.operations->by_op.size(), 1U);
  const record::OperationKind& kind = run.operations->by_op[0];
  EXPECT_EQ(kind.count, 5U);
  EXPECT_EQ(kind.bytes, 250'000'000U);
  EXPECT_THAT(*kind.wait_s, DoubleNear(5 * 0.030, 1e-9));
  EXPECT_THAT(*kind.transfer_s, DoubleNear(5 * 0.020, 1e-9));
  // 50 MB * 1.5 * 8 bit in 20 ms, and in 60 ms with waiting.
  EXPECT_THAT(*kind.busbw_bps, DoubleNear(30e9, 1));
  EXPECT_THAT(*kind.busbw_whole_bps, DoubleNear(10e9, 1));
}

TEST(Imported, AnOperationWithoutNameHasNoBusBandwidth) {
  // What goes over the bus for each byte is the operation's: nobody knows it of one that no table names.
  const auto row = [](const char* op) {
    return Operation{
        .group_size = 4, .op = op, .bytes = 65'536, .end_ns = 20'000, .clock = Clock::Alone};
  };
  record::Run run;
  add_to(run,
         imported({Told{.kind = "nccl_tests", .operations = {row("unknown"), row("broadcast")}}}));
  ASSERT_THAT(run.operations->by_op, SizeIs(2));
  for (const record::OperationKind& kind : run.operations->by_op)
    EXPECT_EQ(kind.busbw_bps.has_value(), kind.op == "broadcast") << kind.op;
  // How long it took says nothing of who waited.
  EXPECT_FALSE(run.operations->by_op[0].wait_s);
  EXPECT_TRUE(run.operations->by_op[0].transfer_s);
}

// Behind a slow link rank 2 is done 10 ms after the others where a collective takes 20, and 30 ms where it takes 60.
TEST(Imported, EndsApartByASlowWayAreNoOtherClock) {
  const auto of_ends = [](std::int64_t of_short, std::int64_t of_long) {
    std::vector<Told> told = traces_of({.steps = 12});
    for (Told& file : told) {
      for (std::size_t i = 0; i < file.operations.size(); ++i) {
        Operation& each = file.operations[i];
        if (i % 2 == 1) each.end_ns = *each.start_ns + 60'000'000;
        if (file.rank == 2) *each.end_ns += i % 2 == 1 ? of_long : of_short;
      }
    }
    return imported(told).told[2];
  };
  const Told slow = of_ends(10'000'000, 30'000'000);
  EXPECT_EQ(slow.clock_offset_ns, 0);
  EXPECT_EQ(slow.clock_uncertainty_ns, 10'000'000);
  EXPECT_EQ(of_ends(10'000'000, 10'500'000).clock_offset_ns, 10'000'000);
  // A clock that is a minute off and a slow way.
  EXPECT_EQ(of_ends(60'010'000'000, 60'030'000'000).clock_offset_ns, 60'010'000'000);
}

// The others come 1.5 ms before rank 2 to what follows, for they were done 1.5 ms before it: by a slow way, late is nobody.
TEST(Imported, WhoIsDoneFirstDoesNotWaitForARank) {
  std::vector<Told> told = traces_of({.steps = 8});
  for (std::size_t i = 0; i < told[2].operations.size(); ++i) {
    if (i > 0) *told[2].operations[i].start_ns += 1'500'000;
    *told[2].operations[i].end_ns += 1'500'000;
  }
  EXPECT_THAT(imported(told).balance->wait_s, DoubleNear(0, 1e-9));
}

TEST(Imported, RanksAreThoseOfTheLargestWorldOrCommunicator) {
  EXPECT_EQ(ranks_of(imported({{.world_size = 2}, {.world_size = 8}})), 8);
  Told log;
  log.wiring.ranks = 4;
  EXPECT_EQ(ranks_of(imported({log, {.world_size = 2}})), 4);
}

TEST(Imported, PacketsNameTheHostOfARankThatTracesFindLate) {
  const auto with_packets = [](double delay_s, std::map<int, std::string> hosts) {
    record::Run run;
    run.capture.emplace();
    run.straggler = record::Straggler{.host = "10.0.0.7", .delay_s = delay_s};
    run.verdict = record::Verdict{.cause = "late_rank", .where = "10.0.0.7", .text = "Late."};
    std::vector<Told> told = traces_of({.late_rank = 2, .late_ns = 40'000'000});
    told[0].wiring.hosts = std::move(hosts);
    add_to(run, imported(told));
    EXPECT_EQ(run.straggler->rank, 2);
    EXPECT_EQ(run.verdict->where, run.straggler->host);
    return run.straggler->host;
  };
  EXPECT_EQ(with_packets(0.038, {}), "10.0.0.7");
  // What is late by much less, or more, is something else.
  EXPECT_EQ(with_packets(0.004, {}), "rank 2");
  EXPECT_EQ(with_packets(0.38, {}), "rank 2");
  EXPECT_EQ(with_packets(0.038, {{2, "node2"}}), "node2");
}

TEST(Imported, TellsALateRankFromASlowWire) {
  const record::Run late = run_of({.late_rank = 2, .late_ns = 40'000'000});
  EXPECT_EQ(late.verdict->cause, "late_rank");
  EXPECT_EQ(late.straggler->rank, 2);
  EXPECT_THAT(late.straggler->delay_s, DoubleNear(0.040, 1e-9));
  EXPECT_THAT(late.verdict->text, HasSubstr("Without that a step would take 100 ms"));
  const record::Run slow = run_of({.transfer_ns = 80'000'000});
  EXPECT_EQ(slow.verdict->cause, "bandwidth");
  EXPECT_FALSE(slow.straggler);
  const record::Run well = run_of({.transfer_ns = 2'000'000});
  EXPECT_EQ(well.verdict->cause, "compute");
}

TEST(Imported, PutsClocksOfHostsOnOne) {
  // Rank 1's clock is an hour ahead, rank 3's 5 ms behind: arrivals stay as they were.
  const auto made = imported(traces_of(
      {.late_rank = 2, .late_ns = 40'000'000, .clock_ns = {0, 3'600'000'000'000, 0, -5'000'000}}));
  EXPECT_EQ(made.told[1].clock_offset_ns, 3'600'000'000'000);
  EXPECT_EQ(made.told[3].clock_offset_ns, -5'000'000);
  EXPECT_EQ(made.told[1].clock_uncertainty_ns, 0);
  ASSERT_TRUE(made.balance->late);
  EXPECT_EQ(made.balance->late->rank, 2);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
}

TEST(Imported, FilesWithClocksOfTheirOwnAreMovedToOne) {
  // Each counts from the start of its recording; the first that counts from 1970 gives the axis.
  std::vector<Told> told =
      traces_of({.late_rank = 2, .late_ns = 40'000'000, .clock_ns = {0, 0, 1'000'000, 500'000}});
  for (const std::size_t file : {0, 2, 3}) {
    for (Operation& each : told[file].operations) {
      *each.start_ns -= 1'700'000'000'000'000'000;
      *each.end_ns -= 1'700'000'000'000'000'000;
      each.clock = Clock::Process;
    }
  }
  const auto made = imported(told);
  EXPECT_EQ(made.told[0].clock_offset_ns, -1'700'000'000'000'000'000);
  EXPECT_EQ(made.told[1].clock_offset_ns, 0);
  EXPECT_EQ(made.told[3].clock_offset_ns, -1'699'999'999'999'500'000);
  EXPECT_EQ(made.arrivals.size(), 5U);
  ASSERT_TRUE(made.balance->late);
  EXPECT_EQ(made.balance->late->rank, 2);
  EXPECT_THAT(made.balance->late->delay_s, DoubleNear(0.040, 1e-9));
  // One that shares too few with the others is left out.
  told[3].operations.resize(2);
  EXPECT_EQ(imported(told).arrivals.front().parts.size(), 3U);
}

TEST(Imported, JoinsTracesThatBeginAtAnotherStep) {
  std::vector<Told> told = traces_of({.steps = 6});
  for (Told& file : told) {
    for (std::size_t i = 0; i < file.operations.size(); ++i)
      file.operations[i].bytes = 1000 * static_cast<std::int64_t>(i + 1);
  }
  told[1].operations.erase(told[1].operations.begin());
  const auto made = imported(std::move(told));
  EXPECT_EQ(made.arrivals.size(), 5U);  // the first one lacks rank 1
  EXPECT_FALSE(made.balance->late && made.balance->late->delay_s > 0.001);
}

TEST(Imported, StepsAreInTheRecordWithTheirTimes) {
  // 80 ms of computing, 20 ms of transfer, five times.
  record::Run run;
  add_to(run, imported(traces_of({})));
  ASSERT_TRUE(run.iterations && run.iterations->evidence);
  EXPECT_EQ(*run.iterations->evidence, "5 steps told by kineto");
  EXPECT_EQ(run.iterations->times_s.size(), 5U);
  EXPECT_NEAR(*run.iterations->mean_s, 0.1, 1e-9);
}

TEST(Imported, AnAverageOfManyStepsCountsOnceInAnInterval) {
  // Lines at every hundredth step: averages of 100, 110 and 120 ms, then a fourth.
  Told file{.path = "log.txt", .kind = "step_log", .records = 400};
  for (std::int64_t i = 0; i < 400; ++i) {
    const std::int64_t average = i / 100;
    file.steps.push_back(
        {.number = i, .duration_ns = 100'000'000 + 10'000'000 * average, .is_shared = i % 100 > 0});
  }
  record::Run run;
  add_to(run, imported({file}));
  EXPECT_EQ(run.iterations->count, 400U);
  EXPECT_EQ(run.iterations->averages, 4U);
  EXPECT_EQ(*run.iterations->evidence, "400 steps told by step_log as 4 averages");
  EXPECT_NEAR(*run.iterations->ci_low_s, 0.1, 1e-9);
  EXPECT_NEAR(*run.iterations->ci_high_s, 0.13, 1e-9);
  EXPECT_FALSE(run.iterations->p99_s);
  // Two lines tell one average, of which nobody knows how it varies.
  file.steps.resize(100);
  record::Run few;
  const Imported told = imported({file});
  add_to(few, told);
  EXPECT_EQ(few.iterations->averages, 1U);
  EXPECT_FALSE(few.iterations->ci_low_s);
  EXPECT_THAT(imported_text(few, told, "", ""), HasSubstr("100 told as one average · 100 ms\n"));
}

TEST(Imported, AStepIsAsLongAsForTheRankInTheMiddleAndStartUpIsNone) {
  std::vector<Told> told = traces_of({});
  told[0].steps[2].duration_ns *= 3;                        // one rank paused
  for (Told& file : told) file.steps[0].duration_ns *= 20;  // all started up
  record::Run run;
  add_to(run, imported(told));
  EXPECT_TRUE(run.iterations->first_untypical);
  EXPECT_EQ(run.iterations->count, 5U);
  EXPECT_THAT(run.iterations->times_s,
              ElementsAre(DoubleNear(2, 1e-9), DoubleNear(0.1, 1e-9), DoubleNear(0.1, 1e-9),
                          DoubleNear(0.1, 1e-9), DoubleNear(0.1, 1e-9)));
  EXPECT_THAT(*run.iterations->median_s, DoubleNear(0.1, 1e-9));
  EXPECT_THAT(*run.iterations->mean_s, DoubleNear(0.1, 1e-9));
}

TEST(Imported, WhatFilesTellOfCollectivesGoesBeforeWhatPacketsSuggest) {
  record::Run run{.capture = record::Capture{}};
  run.collectives = {{.operation = "all_gather",
                      .strategy = "ring",
                      .order = {"a", "b", "c", "d"},
                      .bytes_per_iteration = 50'001'000}};
  std::vector<Told> told = traces_of({});
  for (Told& file : told) {
    for (Operation& each : file.operations) each.algorithm = "ring";
  }
  add_to(run, imported(told));
  ASSERT_EQ(run.collectives.size(), 1U);
  EXPECT_EQ(run.collectives[0].operation, "all_reduce");
  EXPECT_EQ(run.collectives[0].bytes_per_iteration, 50'000'000U);
  EXPECT_THAT(run.collectives[0].order, ElementsAre("a", "b", "c", "d"));
}

// Two tensor-parallel groups of two beside the data-parallel one: each operation once, whoever tells of it.
TEST(Imported, BytesAreToldByGroup) {
  std::vector<Told> told = traces_of({.ranks = 4, .steps = 5});
  for (Told& file : told) {
    file.operations.push_back({.rank = file.rank,
                               .group = *file.rank < 2 ? "tp0" : "tp1",
                               .group_size = 2,
                               .op = "all_gather",
                               .bytes = 1'000'000});
  }
  record::Run run;
  add_to(run, imported(std::move(told)));
  const auto& groups = run.operations->by_group;
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_EQ(groups[0].group, "0");
  EXPECT_EQ(groups[0].count, 5U);
  EXPECT_EQ(groups[0].bytes, 250'000'000U);
  EXPECT_EQ(groups[0].group_size, 4U);
  EXPECT_EQ(groups[1].op, "all_gather");
  EXPECT_EQ(groups[1].bytes, 1'000'000U);
  EXPECT_EQ(groups[2].group_size, 2U);
}

TEST(Imported, AStepIsComparedWithItsPlan) {
  record::Run run;
  add_to(run, imported(traces_of({.ranks = 4, .steps = 5})));
  add_plan(run, {.name = "job", .gradient_bytes = 50'000'000});
  EXPECT_EQ(run.findings[0].kind, "plan");
  EXPECT_EQ(run.findings[0].severity, "info");
  EXPECT_THAT(run.findings[0].text, HasSubstr("50,000,000 bytes of gradients (+0.0000 %)"));
  add_plan(run, {.name = "job", .gradient_bytes = 40'000'000});
  EXPECT_EQ(run.findings[0].severity, "warning");
  EXPECT_THAT(run.findings[0].text, HasSubstr("(+25.0000 %)"));
}

TEST(Imported, OneRankAloneGivesNoVerdictOnWaiting) {
  std::vector<Told> told = traces_of({});
  told.resize(1);
  record::Run run;
  add_to(run, imported(std::move(told)));
  EXPECT_EQ(run.verdict->cause, "unknown");
  EXPECT_EQ(run.operations->by_op[0].count, 5U);
  EXPECT_FALSE(run.operations->by_op[0].wait_s);
}

TEST(Imported, NamesWhoDidNotJoin) {
  std::vector<Told> told(3);
  for (int rank = 0; rank < 3; ++rank) {
    Told& file = told[static_cast<std::size_t>(rank)];
    file.kind = "flight_recorder";
    file.rank = rank;
    for (int number = 1; number <= (rank == 1 ? 4 : 5); ++number) {
      file.operations.push_back({.rank = rank,
                                 .group = "0",
                                 .group_size = 3,
                                 .op = "all_reduce",
                                 .sequence = number,
                                 .bytes = 4096,
                                 .state = number < 5 ? State::Completed : State::Started});
    }
  }
  const auto found = hangs(told);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sequence, 5);
  EXPECT_THAT(found[0].missing, ElementsAre(1));
  EXPECT_THAT(found[0].waiting, ElementsAre(0, 2));
  EXPECT_EQ(found[0].last_of_missing, 4);
  record::Run run;
  add_to(run, imported(told));
  EXPECT_EQ(run.verdict->cause, "missing_rank");
  EXPECT_EQ(run.verdict->where, "rank 1");
  EXPECT_THAT(run.verdict->text, HasSubstr("Rank 1 did not join collective 5"));
  // All have come to it, with different sizes: the program's mistake.
  told[1].operations.push_back(told[0].operations.back());
  told[1].operations.back().rank = 1;
  told[1].operations.back().bytes = 8192;
  EXPECT_THAT(hangs(told)[0].missing, IsEmpty());
  EXPECT_THAT(sentence_of(hangs(told)[0]), HasSubstr("rank 1 asks for all_reduce of 8192 bytes"));
}

TEST(Imported, KindsOfFilesMustTellOfTheSameBytes) {
  std::vector<Told> told = traces_of({.ranks = 2, .steps = 3});
  Told log{.path = "log", .kind = "nccl_log"};
  for (int i = 0; i < 5; ++i) {
    log.operations.push_back(
        {.rank = 0, .group = "x", .group_size = 2, .op = "all_reduce", .bytes = 50'000'000});
  }
  told.push_back(log);
  auto found = agreements(told);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].agrees);
  EXPECT_EQ(found[0].compared, 3U);
  EXPECT_EQ(found[0].bytes, 150'000'000U);
  told.back().operations[1].bytes = 7;
  told.back().operations[3].bytes = 7;
  EXPECT_FALSE(agreements(told)[0].agrees);
}

TEST(Imported, SaysWhatIsWrongWithTheWiring) {
  Told log{.path = "log", .kind = "nccl_log"};
  log.wiring.network = "Socket";
  log.wiring.other_nics = {"mlx5_0"};
  log.wiring.settings["NCCL_IB_DISABLE"] = "1";
  ASSERT_FALSE(remarks_on(log.wiring).empty());
  EXPECT_EQ(remarks_on(log.wiring)[0].kind, "socket_fallback");
  EXPECT_THAT(remarks_on(log.wiring)[0].text,
              HasSubstr("although mlx5_0 is there: NCCL_IB_DISABLE is set to 1"));
  Wiring rails{.network = "IB",
               .devices = {{"NET/IB", {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}}},
               .ranks = 2};
  rails.ways = {{0, 1, 0, "NET/IB/0/GDRDMA"}, {1, 0, 0, "NET/IB/0/GDRDMA"}};
  EXPECT_EQ(remarks_on(rails)[0].kind, "one_nic");
  rails.ways[1].transport = "NET/IB/1";
  EXPECT_EQ(remarks_on(rails)[0].kind, "wiring");
}

TEST(Imported, OfABenchmarkNoTimeIsWithWaiting) {
  for (const char* const kind : {"nccl_tests", "osu", "nccom_test", "ucc_perftest"}) {
    Told table{.path = "table", .kind = kind, .records = 1};
    table.operations.push_back({.group_size = 2,
                                .op = "all_reduce",
                                .bytes = 1'000'000,
                                .start_ns = 0,
                                .end_ns = 1'000'000,
                                .clock = Clock::Alone});
    record::Run run;
    add_to(run, imported({table}));
    ASSERT_EQ(run.operations->by_op.size(), 1U) << kind;
    EXPECT_TRUE(run.operations->by_op[0].busbw_bps) << kind;
    EXPECT_FALSE(run.operations->by_op[0].wait_s) << kind;
    EXPECT_FALSE(run.operations->by_op[0].busbw_whole_bps) << kind;
  }
}

TEST(Imported, ABridgeOfEachHostLeadsToNoOther) {
  Wiring wiring{.network = "Socket",
                .devices = {{"NET/Socket", {"docker0", "eth0"}}},
                .hosts = {{0, "a"}, {1, "b"}},
                .ranks = 2};
  ASSERT_EQ(remarks_on(wiring)[0].kind, "wrong_interface");
  EXPECT_THAT(remarks_on(wiring)[0].text, HasSubstr("docker0, which each host has for itself"));
  wiring.hosts = {{0, "a"}, {1, "a"}};
  EXPECT_EQ(remarks_on(wiring)[0].kind, "wiring");
  wiring.warnings = {"Net : Connect to 172.17.0.1<40021> failed : Connection refused"};
  EXPECT_EQ(remarks_on(wiring)[0].kind, "wrong_interface");
}

// Every log of 2.4 lists the interfaces, as what the start may go by.
TEST(Imported, ABridgeBesideCardsThatCarryEverythingIsNoTrouble) {
  const Wiring wiring{.network = "IB",
                      .devices = {{"NET/IB", {"mlx5_0"}}, {"NET/Socket", {"eth0", "virbr0"}}},
                      .hosts = {{0, "a"}, {1, "b"}},
                      .ranks = 2};
  EXPECT_EQ(remarks_on(wiring)[0].kind, "wiring");
}

TEST(Imported, SocketsBesideATakenCardAreTrouble) {
  Wiring wiring{
      .network = "IB", .devices = {{"NET/IB", {"mlx5_0"}}, {"NET/Socket", {"eth0"}}}, .ranks = 2};
  wiring.ways = {{0, 1, 0, "NET/Socket/0"}, {1, 0, 0, "NET/Socket/0"}};
  ASSERT_EQ(remarks_on(wiring)[0].kind, "socket_fallback");
  EXPECT_THAT(remarks_on(wiring)[0].text, HasSubstr("although mlx5_0 is there"));
  EXPECT_EQ(remarks_on(wiring)[1].kind, "wiring");  // one NIC of each kind: none of them is idle
  for (Way& way : wiring.ways) way.transport = "NET/IBext_v8/0";
  EXPECT_EQ(remarks_on(wiring)[0].kind, "wiring");
  wiring.devices["NET/IB"].insert("mlx5_1");
  ASSERT_EQ(remarks_on(wiring)[0].kind, "one_nic");
  EXPECT_THAT(remarks_on(wiring)[0].text, HasSubstr("NIC 0 of 2 (mlx5_0, mlx5_1)"));
}

record::Run with_late(const std::string& host, double delay_s) {
  record::Run run{.capture = record::Capture{}};
  run.hosts = {{.name = "10.0.0.1", .addresses = {"10.0.0.1"}},
               {.name = "10.0.0.2", .addresses = {"10.0.0.2"}}};
  run.straggler = record::Straggler{.host = host, .delay_s = delay_s, .confidence = 0.7};
  run.findings = {{.text = "late", .severity = "warning", .kind = "straggler"}};
  run.verdict = record::Verdict{.cause = "late_rank", .where = host, .text = "By packets."};
  return run;
}

// 80 ms of computing and 20 ms of transfer, all ranks at the same time: nobody is late by 30 ms.
TEST(Imported, WhoCameLastTracesTellAndNotPackets) {
  record::Run run = with_late("10.0.0.2", 0.03);
  add_to(run, imported(traces_of({.ranks = 2})));
  EXPECT_FALSE(run.straggler);
  EXPECT_NE(run.verdict->cause, "late_rank");
  EXPECT_THAT(run.verdict->text, HasSubstr("Packets alone take 10.0.0.2 for late, by 30 ms; by the "
                                           "traces all ranks come within"));
  // By as much as ranks differ is no contradiction.
  record::Run alike = with_late("10.0.0.2", 0.001);
  add_to(alike, imported(traces_of({.ranks = 2})));
  EXPECT_THAT(alike.verdict->text, Not(HasSubstr("Packets alone")));
}

TEST(Imported, PacketsAndTracesThatNameDifferentHostsSaySo) {
  const auto told = [] {
    std::vector<Told> files =
        traces_of({.ranks = 2, .late_rank = 0, .late_ns = 40'000'000, .late_every = 1});
    files[0].wiring.hosts = {{0, "a"}, {1, "b"}};
    files[0].wiring.ranks = 2;
    files[0].wiring.addresses = {{"a", "10.0.0.1"}, {"b", "10.0.0.2"}};
    return files;
  };
  record::Run run = with_late("10.0.0.2", 0.03);
  add_to(run, imported(told()));
  ASSERT_TRUE(run.straggler);
  EXPECT_EQ(run.straggler->host, "10.0.0.1");
  EXPECT_THAT(run.verdict->text, HasSubstr("by the traces it is rank 0 (a)"));
  EXPECT_THAT(run.verdict->text, Not(HasSubstr("The packets agree")));
  record::Run same = with_late("10.0.0.1", 0.03);
  add_to(same, imported(told()));
  EXPECT_THAT(same.verdict->text, HasSubstr("The packets agree"));
}

TEST(Imported, PacketsNameTheLinkWhereTracesSayTransfer) {
  const record::Verdict packets{
      .cause = "slow_link", .where = "a to b", .cost_s = 0.1, .text = "The link."};
  const record::Verdict transfer{.cause = "bandwidth", .cost_s = 0.1, .text = "The transfer."};
  EXPECT_EQ(of_both(packets, transfer).cause, "slow_link");
  EXPECT_THAT(of_both(packets, transfer).text, HasSubstr("The traces agree"));
  const record::Verdict late{
      .cause = "late_rank", .where = "host2", .cost_s = 0.2, .text = "Late."};
  EXPECT_EQ(of_both({.cause = "unknown"}, late).cause, "late_rank");
  // Traces of some ranks do not tell a transfer from a late rank; packets do.
  const record::Verdict doubt{.cause = "bandwidth", .cost_s = 0.1, .confidence = 0.4};
  EXPECT_EQ(of_both({.cause = "late_rank"}, doubt).cause, "late_rank");
  EXPECT_THAT(of_both({.cause = "late_rank", .text = "Late too."}, late).text,
              HasSubstr("The packets agree: Late too."));
}

}  // namespace
}  // namespace tw::operations
