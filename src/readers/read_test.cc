// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/read.h"

#include "trainwire/operations/missing.h"

#include <gmock/gmock.h>

namespace tw::readers {
namespace {

using operations::Told;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

// As torch 2.11 writes it, cut down.
constexpr std::string_view kTrace = R"json({
  "schemaVersion": 1,
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 4},
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::add \"[{", "pid": 2, "tid": 45, "ts": 1.5, "dur": 1},
  {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 2, "tid": 45, "ts": 100.250, "dur": 10,
   "args": {"External id": 7, "Collective name": "_allgather_base", "dtype": "BFloat16", "Rank": 3,
    "In msg nelems": 100, "Out msg nelems": 400, "Group size": 4, "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]"}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                           "pid" : 0, "tid" : 18, "ts" : 200.125, "dur" : 50.500, "args" : {
  "External id" : 7, "stream" : 18
}
},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 220, "dur": 10, "args": {}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#12", "pid": 2, "tid": 2, "ts": 90, "dur": 300}
  ],
  "traceName": "x.json"
})json";

TEST(Kineto, JoinsAKernelWithWhatItsRecordSays) {
  const Told told = read_text(kTrace, "trace.json");
  EXPECT_EQ(told.kind, "kineto");
  EXPECT_EQ(told.rank, 3);
  EXPECT_EQ(told.world_size, 4);
  ASSERT_THAT(told.operations, SizeIs(1));
  const operations::Operation& each = told.operations[0];
  EXPECT_EQ(each.op, "all_gather");
  EXPECT_EQ(each.bytes, 800);  // 400 elements of 2 bytes
  EXPECT_EQ(each.start_ns, 1790857026000000000 + 200125);
  EXPECT_EQ(each.end_ns, 1790857026000000000 + 250625);
  EXPECT_EQ(each.enqueue_ns, 1790857026000000000 + 100250);
  EXPECT_EQ(each.group_size, 4);
  ASSERT_THAT(told.steps, SizeIs(1));
  EXPECT_EQ(told.steps[0].number, 12);
  EXPECT_EQ(told.steps[0].duration_ns, 300'000);
  EXPECT_THAT(told.computing,
              ElementsAre(operations::Span{1790857026000220000, 1790857026000230000}));
}

TEST(Kineto, KernelsOfRcclAndOthersAreCollectives) {
  const Told told = read_text(R"json({"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 10, "dur": 5,
     "args": {"External id": 9, "Collective name": "allreduce", "In msg nelems": 128, "Out msg nelems": 128, "Group size": 2, "dtype": "Float"}},
    {"ph": "X", "cat": "kernel", "name": "void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)", "ts": 20, "dur": 8,
     "args": {"External id": 9}},
    {"ph": "X", "cat": "kernel", "name": "another_allreduce", "ts": 40, "dur": 8,
     "args": {"Collective name": "allreduce", "In msg nelems": 64, "Out msg nelems": 64, "Group size": 2, "dtype": "Float"}},
    {"ph": "X", "cat": "kernel", "name": "void at::native::add", "ts": 60, "dur": 8, "args": {}}]
})json",
                              "rank0.json");
  ASSERT_THAT(told.operations, SizeIs(2));
  EXPECT_EQ(told.operations[0].op, "all_reduce");
  EXPECT_EQ(told.operations[0].bytes, 512);
  EXPECT_EQ(told.operations[1].bytes, 256);
  EXPECT_THAT(told.computing, SizeIs(1));
}

TEST(Kineto, OldTracesHaveSizesInTheirAnnotations) {
  const Told told = read_text(R"json({"traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "nccl:all_reduce", "ts": 10, "dur": 5,
     "args": {"External id": 9, "Input Dims": [[16, 8]], "Input type": ["float"]}},
    {"ph": "X", "cat": "Kernel", "name": "ncclKernel_AllReduce_TREE_LL_Sum_float(ncclWorkElem)", "ts": 20, "dur": 8,
     "args": {
   "External id": 9}}]
})json",
                              "worker_5.pt.trace.json");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].bytes, 512);
  EXPECT_EQ(told.operations[0].algorithm, "tree");
  EXPECT_EQ(told.rank, 5);  // of the name: nothing inside says it
}

TEST(Kineto, OfTheHostAloneTellsSizes) {
  const Told told =
      read_text(R"json({"distributedInfo": {"rank": 1, "world_size": 4}, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 30, "dur": 1,
     "args": {"External id": 8, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 100, "Out msg nelems": 100, "Group size": 4}},
    {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 10, "dur": 1,
     "args": {"External id": 7, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 50, "Out msg nelems": 50, "Group size": 4}},
    {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "ts": 40, "dur": 1,
     "args": {"External id": 9, "Collective name": "wait", "dtype": "Float", "In msg nelems": 0, "Out msg nelems": 0, "Group size": 4}}]})json",
                "rank1.json");
  ASSERT_THAT(told.operations, SizeIs(2));
  EXPECT_EQ(told.operations[0].bytes, 200);  // in the order in which they were asked for
  EXPECT_FALSE(told.operations[0].start_ns);
  EXPECT_THAT(told.reasons, ElementsAre(HasSubstr("only sizes are told")));
}

// Gloo without a device: operators compute, from 10 to 13 and from 40 to 45 us.
TEST(Kineto, WithoutADeviceTheHostComputes) {
  const auto told = [](const std::string& devices) {
    return read_text(R"json({"schemaVersion": 1, "deviceProperties": [)json" + devices +
                         R"json(], "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 9, "tid": 9, "ts": 10, "dur": 3, "args": {}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 9, "tid": 9, "ts": 11, "dur": 1, "args": {}},
    {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 9, "tid": 8, "ts": 20, "dur": 30,
     "args": {"External id": 9, "Input Dims": [[16, 8]], "Input type": ["float"]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mul_", "pid": 9, "tid": 9, "ts": 40, "dur": 5, "args": {}}]})json",
                     "rank0.json");
  };
  constexpr std::int64_t kBase = 1790857026000000000;
  EXPECT_THAT(told("").computing, ElementsAre(operations::Span{kBase + 10'000, kBase + 13'000},
                                              operations::Span{kBase + 40'000, kBase + 45'000}));
  EXPECT_THAT(told(R"({"id": 0})").computing, testing::IsEmpty());
}

// torch 1.8 writes some names in small letters.
TEST(Kineto, KnowsTheNamesOfTheFirstVersion) {
  const Told told = read_text(R"json({"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "Operator", "name": "nccl:all_reduce", "pid": 9, "tid": "9", "ts": 10, "dur": 5,
     "args": {"External id": 9, "Input dims": [[16, 8]], "Input type": ["float"]}},
    {"ph": "X", "cat": "Kernel", "name": "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "pid": 0, "tid": "stream 20",
     "ts": 20, "dur": 8, "args": {"queued": 0, "stream": 20, "correlation": 7, "external id": 9}}]})json",
                              "rank0.json");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].bytes, 512);
}

// The second step has no kernels any more.
TEST(Kineto, CutOffHasStepsAsFarAsKernelsGo) {
  const Told told = read_text(R"json({"traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 100},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "ts": 100, "dur": 100},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ts": 20, "dur": 60},
    {"ph": "X", "cat": "ker)json",
                              "rank1.json");
  ASSERT_THAT(told.steps, SizeIs(1));
  EXPECT_EQ(told.steps[0].number, 1);
}

TEST(Kineto, CutAnywhereGivesTheSameFirstOperationsOrNone) {
  const Told whole = read_text(kTrace, "trace.json");
  for (std::size_t cut = 400; cut < kTrace.size(); ++cut) {
    const Told some = read_text(kTrace.substr(0, cut), "trace.json");
    ASSERT_LE(some.operations.size(), whole.operations.size());
    if (cut + 3 < kTrace.size() && some.kind == "kineto") {
      EXPECT_FALSE(some.reasons.empty()) << cut;
    }
  }
}

// As NCCL 2.28.9 writes it, and a line of 2.5.
constexpr std::string_view kLog =
    "host0:2:2 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "host0:2:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.77.0.1<0>\n"
    "host0:2:2 [0] NCCL INFO Using network Socket\n"
    "host0:2:2 [0] NCCL INFO ncclCommInitRankConfig comm 0x238aa200 rank 0 nranks 4 cudaDev 0 "
    "nvmlDev 0 busId 60 commId 0xdf80 - Init START\n"
    "[1,0]<stdout>:host0:2:2 [0] NCCL INFO Channel 00/02 : 0 1 2 3\n"
    "host0:2:2 [0] NCCL INFO Channel 01/02 :    0   2   1   3\n"
    "host0:2:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n"
    "host0:2:2 [0] NCCL INFO Ring 01 : 0[201000] -> 3[a01000] [send] via NET/IB/1/GDRDMA\n"
    "step 3 loss 0.5 host0:2:2 [0] NCCL INFO AllGather: opCount a sendbuff 0x7 recvbuff 0x7 count "
    "1000 datatype 9 op 0 root 0 comm 0x238aa200 [nranks=4] stream 0x2\n"
    "host0:2:2 [0] NCCL INFO AllGather: 2000 Bytes -> Algo RING proto SIMPLE "
    "channel{Lo..Hi}={0..1}\n"
    "host0:2:2 [0] NCCL INFO 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, "
    "2 p2p channels per peer\n"
    "something else\n"
    "[2026-01-01 10:00:00] host0:2:2 [0] transport/net.cc:12 NCCL WARN Call to ibv_open failed\n";

TEST(NcclLog, TellsRingsWaysAndOperations) {
  const Told told = read_text(kLog, "x.log");
  EXPECT_EQ(told.kind, "nccl_log");
  EXPECT_EQ(told.rank, 0);
  ASSERT_THAT(told.operations, SizeIs(1));
  const operations::Operation& each = told.operations[0];
  EXPECT_EQ(each.op, "all_gather");
  EXPECT_EQ(each.bytes, 8000);  // 1000 elements of 2 bytes of each of 4 ranks
  EXPECT_EQ(each.sequence, 10);
  EXPECT_EQ(each.algorithm, "ring");
  EXPECT_EQ(each.protocol, "simple");
  EXPECT_EQ(each.channels, 2);
  EXPECT_EQ(each.host, "host0");
  EXPECT_EQ(told.wiring.version, "2.28.9+cuda13.0");
  EXPECT_THAT(told.wiring.rings.at(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(told.wiring.rings.at(1), ElementsAre(0, 2, 1, 3));
  ASSERT_THAT(told.wiring.ways, SizeIs(2));
  EXPECT_EQ(told.wiring.ways[1].transport, "NET/IB/1/GDRDMA");
  EXPECT_EQ(told.wiring.addresses.at("host0"), "10.77.0.1");
  EXPECT_EQ(told.wiring.channels, 2);
  EXPECT_THAT(told.wiring.warnings, ElementsAre(HasSubstr("ibv_open failed")));
}

TEST(NcclLog, OnlyNumbersInBracketsBeginACard) {
  const Told told = read_text(
      "h:2:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:1<0>\n"
      "h:2:2 [0] NCCL INFO NET/IB : Using [0]mlx5_2; OOB [9]eth9:1<0>\n"
      "h:2:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n",
      "x.log");
  EXPECT_THAT(told.wiring.devices,
              ElementsAre(Pair("NET/IB", ElementsAre("mlx5_0", "mlx5_1", "mlx5_2")),
                          Pair("NET/Socket", ElementsAre("eth0"))));
  EXPECT_EQ(told.wiring.addresses.at("h"), "10.0.0.1");
}

// As NCCL 2.5.7 writes it, cut by people who hide their hosts.
TEST(NcclLog, LinesWithoutHostAndProcessAreRead) {
  const std::string text =
      "[0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE ; OOB br0:10.0.0.1<0>\n"
      "[0] NCCL INFO NCCL version 2.5.7+cuda10.0\n"
      "[0] NCCL INFO Channel 00/02 :    0   1   2   3\n"
      "[0] NCCL INFO Ring 00 : 0[1b000] -> 3[41000] via direct shared memory\n"
      "[0] NCCL INFO Ring 00 : 0[1b000] -> 1[1c000] [send] via NET/IB/0\n"
      "[0] NCCL INFO comm 0x7fb1c8001060 rank 0 nranks 4 cudaDev 0 busId 1b000 - Init COMPLETE\n";
  for (const std::string_view prefix : {" [0] ", " ", ""}) {
    std::string cut;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      cut += std::string(prefix) + text.substr(at + 4, end - at - 4);
      at = end;
    }
    const Told told = read_text(cut, "x.log");
    EXPECT_EQ(told.kind, "nccl_log");
    EXPECT_EQ(told.wiring.version, "2.5.7+cuda10.0");
    EXPECT_EQ(told.wiring.ranks, 4);
    EXPECT_TRUE(told.wiring.hosts.empty());
    EXPECT_THAT(told.wiring.rings.at(0), ElementsAre(0, 1, 2, 3));
    ASSERT_THAT(told.wiring.ways, SizeIs(2));
    EXPECT_EQ(told.wiring.ways[0].transport, "SHM");
    EXPECT_EQ(told.wiring.ways[1].transport, "NET/IB/0");
  }
}

// Most who train with NCCL_DEBUG have both in one file.
TEST(Kind, ATrainingLogWithNcclsLinesTellsBoth) {
  const std::string steps =
      " iteration       10/     100 | elapsed time per iteration (ms): 512.5 | lm loss: 9\n"
      " iteration       20/     100 | elapsed time per iteration (ms): 500.0 | lm loss: 8\n";
  std::string many;
  for (int i = 1; i < 40; ++i) {
    many += " iteration " + std::to_string(i) +
            "/ 100 | elapsed time per iteration (ms): 512.5 | lm loss: 9\n";
  }
  for (const auto& [text, kind] : {std::pair(std::string(kLog) + steps, "nccl_log"),
                                   std::pair(std::string(kLog) + many, "pace_log")}) {
    const Told told = read_text(text, "train.log");
    EXPECT_EQ(told.kind, kind);
    EXPECT_EQ(told.wiring.ranks, 4);
    EXPECT_THAT(told.operations, SizeIs(1));
    ASSERT_THAT(told.steps, Not(SizeIs(0)));
    EXPECT_EQ(told.steps[0].duration_ns, 512'500'000);
  }
}

TEST(Kind, IsLookedForBehindWhatAProgramPrintsFirst) {
  std::string text;
  while (text.size() < 300'000) text += "model.layer = transformer, dropout = 0.1\n";
  EXPECT_EQ(read_text(text + std::string(kLog), "x.log").kind, "nccl_log");
}

TEST(NcclLog, LinesIntoWhichOthersWereWrittenAreCounted) {
  const Told told = read_text(
      "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0b:3:4 [0] NCCL INFO Channel 00/0 : 1[0] -> "
      "0[0] "
      "[send] via NET/Socket/0\n"
      "] [send] via NET/Socket/0\n",
      "x.log");
  EXPECT_THAT(told.wiring.ways, SizeIs(1));
  EXPECT_EQ(told.skipped, 1U);
  EXPECT_THAT(told.reasons, testing::Contains(HasSubstr("1 lines into which another was written")));
}

TEST(NcclLog, TreesOf24TellTheParentFirst) {
  const Told told = read_text(
      "a:1:2 [0] NCCL INFO Trees [0] 3->2->-1/-1/-1 [1] 1->2->0/-1/-1\n"
      "a:1:2 [0] NCCL INFO comm 0x1 rank 2 nranks 4 cudaDev 0 nvmlDev 0 - Init COMPLETE\n",
      "x.log");
  EXPECT_THAT(told.wiring.tree_edges, ElementsAre(Pair(2, 3)));
}

TEST(NcclLog, CutAnywhereIsReadWithoutFailure) {
  for (std::size_t cut = 60; cut < kLog.size(); ++cut) {
    EXPECT_EQ(read_text(kLog.substr(0, cut), "x.log").kind, "nccl_log") << cut;
  }
}

// torch 2.2 and 2.3 have one number, of collectives and messages together.
TEST(FlightRecorder, WhatTorchfrtracePrintsOfDumpsIsRead) {
  const Told told = read_text(
      "Not all ranks joining collective: sequence number: 42\ngroup info: 0:default_pg\n"
      "collective: nccl:all_reduce\nmissing ranks: {1}\nexpected ranks: {0, 1}\n"
      "collective state: scheduled\n",
      "report7.txt");
  EXPECT_EQ(told.kind, "flight_report");
  EXPECT_EQ(told.records, 1U);
  EXPECT_FALSE(told.rank);
}

TEST(FlightRecorder, FirstVersionsNumberCollectivesByAnotherName) {
  const Told told = read_text(R"json({"version": "1.0", "entries": [
    {"pg_id": 0, "seq_id": 8, "profiling_name": "nccl:all_reduce", "input_sizes": [[1000]],
     "output_sizes": [[1000]], "input_dtypes": ["Float"], "state": "started"}]})json",
                              "nccl_trace_rank_2");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].sequence, 8);
}

TEST(FlightRecorder, TellsSizesStatesAndGroups) {
  const Told told = read_text(
      R"({"entries":[{"collective_seq_id":2,"input_dtypes":["Float"],"input_sizes":[[10],[6]],
    "is_p2p":false,"output_dtypes":["Float"],"output_sizes":[[16]],"p2p_seq_id":0,"process_group":["0","default_pg"],
    "profiling_name":"nccl:all_reduce","state":"started","time_created_ns":1794800771362507917}],
    "pg_config":{"0":{"desc":"default_pg","name":"0","ranks":"[0, 1]"}},"version":"2.10"})",
      "nccl_trace_rank_1");
  EXPECT_EQ(told.kind, "flight_recorder");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].rank, 1);  // of the file's name: the dump does not say
  EXPECT_EQ(told.operations[0].bytes, 64);
  EXPECT_EQ(told.operations[0].group_size, 2);
  EXPECT_EQ(told.operations[0].state, operations::State::Started);
  EXPECT_EQ(told.operations[0].sequence, 2);
}

TEST(Inspector, TellsTimesAndSkipsForeignLines) {
  const Told told = read_text(
      "starting up\n"
      R"({"header":{"id":"0x7f8c","rank":1,"n_ranks":8,"nnodes":2},"metadata":{"hostname":"n1","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":14,"coll_msg_size_bytes":17179869184,"coll_exec_time_us":61974,"coll_algo":"RING","coll_proto":"SIMPLE"}})"
      "\n"
      R"({"header":{"id":"0x7f8c","rank":1,"n_ranks":8},"dump_stats":{"dropped":3}})"
      "\n",
      "x.log");
  EXPECT_EQ(told.kind, "inspector");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].bytes, 17179869184);
  EXPECT_EQ(told.operations[0].end_ns, 61974000);
  EXPECT_EQ(told.operations[0].clock, operations::Clock::Alone);
  EXPECT_EQ(told.operations[0].host, "n1");
  EXPECT_EQ(told.skipped, 0U);  // statistics are no operation
}

// By the source of version 4.3 and NVIDIA's example of 4.0: 65,536 bytes of 32 ranks in 110 us are told there as 19.065 GB/s of
// algorithm bandwidth, so that the size is one rank's part.
TEST(Inspector, RecordsOnManyLinesAreRead) {
  const std::string one = R"({
  "header": {
    "id": "0x1",
    "rank": 2,
    "n_ranks": 8
  },
  "coll_perf": {"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": 4096, "coll_exec_time_us": 61}
}
)";
  const Told told = read_text(one + one, "x.log");
  ASSERT_EQ(told.operations.size(), 2u);
  EXPECT_EQ(told.operations[1].rank, 2);
  EXPECT_EQ(told.operations[1].end_ns, 61000);
  // Stamps of a GPU's ticks are no times: 4552 of them are 45 us.
  const Told ticks = read_text(
      R"({"header": {"id": "0x1", "rank": 0, "n_ranks": 8}, "coll_perf": {"coll": "AllReduce", "coll_sn": 1,)"
      R"( "coll_msg_size_bytes": 4096, "coll_exec_time_us": 150.3, "event_trace_ts": {"kernel_events": [)"
      R"({"channel_id": 0, "kernel_start_ts": 123456, "kernel_stop_ts": 128006, "duration_us": 45}]}}})"
      "\n",
      "x.log");
  ASSERT_EQ(ticks.operations.size(), 1u);
  EXPECT_EQ(ticks.operations[0].end_ns, 150300);
}

TEST(Inspector, HeadersStandBeforeABatchAndSizesAreOneRanksPart) {
  const Told told = read_text(
      R"({"header":{"id":"0x9e7a","rank":31,"n_ranks":32,"nnodes":4},"metadata":{"inspector_output_format_version":"v4.3","hostname":"n3","pid":7},"dump_stats":{"coll_records":2,"coll_dropped_total":9,"coll_dropped_since_last_dump":5,"p2p_records":0}})"
      "\n"
      R"({"coll_perf":{"coll":"ReduceScatter","coll_sn":129,"coll_msg_size_bytes":65536,"coll_exec_time_us":110}})"
      "\n"
      R"({"proxy_trace":{"record_type":"op"}})"
      "\n"
      R"({"coll_perf":{"coll":"AllReduce","coll_sn":4,"coll_msg_size_bytes":65536,"coll_exec_time_us":110}})"
      "\n",
      "n3-pid7.log");
  ASSERT_THAT(told.operations, SizeIs(2));
  EXPECT_EQ(told.operations[0].bytes, 32 * 65536);
  EXPECT_EQ(told.operations[0].rank, 31);
  EXPECT_EQ(told.operations[0].group_size, 32);
  EXPECT_EQ(told.operations[0].host, "n3");
  EXPECT_EQ(told.operations[1].bytes, 65536);
  EXPECT_THAT(told.reasons, testing::Contains(HasSubstr("5 operations were overwritten")));
  const Told headless = read_text(
      R"({"coll_perf":{"coll":"AllReduce","coll_sn":4,"coll_msg_size_bytes":65536,"coll_exec_time_us":110}})"
      "\n",
      "n3-pid7.log");
  EXPECT_THAT(headless.operations, testing::IsEmpty());
  EXPECT_THAT(headless.reasons, testing::Contains(HasSubstr("1 records without a header")));
}

TEST(Horovod, FusedTensorsAreOneOperationAlsoInACutFile) {
  const std::string text = R"([
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "a"}},
{"name": "NEGOTIATE_ALLREDUCE", "ph": "B", "ts": 100, "pid": 1},
{"name": "0", "ph": "X", "ts": 110, "pid": 1, "dur": 0},
{"name": "1", "ph": "X", "ts": 190, "pid": 1, "dur": 0},
{"ph": "E", "ts": 200, "pid": 1},
{"name": "ALLREDUCE", "ph": "B", "ts": 200, "pid": 1},
{"name": "NCCL_ALLREDUCE", "ph": "B", "ts": 210, "pid": 1},
{"ph": "E", "ts": 260, "pid": 1},
{"ph": "E", "ts": 270, "pid": 1, "args": {"dtype": "float32", "shape": "[10, 4]"}},
{"name": "ALLREDUCE", "ph": "B", "ts": 200, "pid": 2},
{"name": "NCCL_ALLREDUCE", "ph": "B", "ts": 210, "pid": 2},
{"ph": "E", "ts": 260, "pid": 2},
{"ph": "E", "ts": 271, "pid": 2, "args": {"dtype": "float32", "shape": "[5]"}},
{"name": "ALLREDU)";
  const Told told = read_text(text, "timeline.json");
  EXPECT_EQ(told.kind, "horovod");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].bytes, 180);
  EXPECT_EQ(*told.operations[0].end_ns - *told.operations[0].start_ns, 50'000);
  EXPECT_THAT(told.notes, ElementsAre(HasSubstr("rank 1 is the last to be ready, by 80 us")));
}

TEST(ExecutionTrace, OfOldPyTorchTellsByWhatItCalledWith) {
  const Told told = read_text(
      R"({"schema": "1.0.2", "nodes": [{"id": 5, "name": "record_param_comms", "ctrl_deps": 1,
        "inputs": {"values": [[[1, 2, 0, 1024, 4, "cuda:0"]], 1, ["0", "default_pg"], 0, "allreduce", [], [], 0, 1, 4],
                   "shapes": [[[1024], [16, 16]], [], [[], []], [], [], [], [], [], [], []],
                   "types": ["GenericList[Tensor(float)]", "Int"]}, "attrs": []}]})",
      "et.json");
  EXPECT_EQ(told.kind, "execution_trace");
  ASSERT_EQ(told.operations.size(), 1U);
  EXPECT_EQ(told.operations[0].op, "all_reduce");
  EXPECT_EQ(told.operations[0].bytes, 4 * (1024 + 256));
  EXPECT_EQ(told.operations[0].group_size, 4);
}

// Schema 1.0.1, of PyTorch 1.13 to 2.1.
TEST(ExecutionTrace, OfTheFirstSchemaIsRead) {
  const Told told = read_text(
      R"({"schema": "1.0.1", "pid": 123, "time": "2023-01-01 10:00:00", "start_ts": 1234, "nodes": [
        {"name": "record_param_comms", "id": 12, "rf_id": 9, "parent": 3, "fw_parent": 0, "seq_id": -1, "scope": 7,
         "inputs": [[[40, 39, 0, 1024, 4, "cuda:0"]], 1, 0, 0, "allreduce", [], [], 4],
         "input_shapes": [[[1024]], [], [], [], [], [], [], []],
         "input_types": ["GenericList[Tensor(float)]", "Int", "Int", "Int", "String"]}], "finish_ts": 2222})",
      "et.json");
  EXPECT_EQ(told.kind, "execution_trace");
  ASSERT_EQ(told.operations.size(), 1U);
  EXPECT_EQ(told.operations[0].op, "all_reduce");
  EXPECT_EQ(told.operations[0].bytes, 4096);
  EXPECT_EQ(told.operations[0].group_size, 4);
}

TEST(NcclLog, TakesWhatTheWatchdogSays) {
  std::string text;
  for (const char* rank : {"0", "1", "3"}) {
    text +=
        std::string("[rank") + rank + "]:[E626 06:24:44.9 ProcessGroupNCCL.cpp:616] [Rank " + rank +
        "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=808, "
        "OpType=_REDUCE_SCATTER_BASE, NumelIn=16, NumelOut=4, Timeout(ms)=600000) ran for 600020 "
        "milliseconds before timing out.\n";
  }
  const std::string exception =
      "] Exception (either an error or timeout) detected by watchdog at work: 808, last enqueued";
  const Told all = read_text(text + "[rank2]:[E] [PG 1 Rank 2" + exception + "\n" +
                                 "[rank3]:[E] [PG 1 Rank 3" + exception + "\n",
                             "x.log");
  ASSERT_EQ(all.operations.size(), 4U);
  EXPECT_EQ(all.operations[2].rank, 2);
  EXPECT_EQ(all.operations[2].op, "reduce_scatter");
  const Told broken = read_text(
      "[Rank 2] Watchdog caught collective operation timeout: \n"
      "WorkNCCL(SeqNum=2070, OpType=REDUCE, NumelIn=1) ran for 600034 milliseconds\n",
      "x.log");
  ASSERT_EQ(broken.operations.size(), 1U);
  EXPECT_EQ(broken.operations[0].rank, 2);
  const Told told = read_text(text, "x.log");
  EXPECT_EQ(told.kind, "nccl_log");
  ASSERT_EQ(told.operations.size(), 3U);
  EXPECT_EQ(told.operations[2].rank, 3);
  EXPECT_EQ(told.operations[2].op, "reduce_scatter");
  EXPECT_EQ(told.operations[2].sequence, 808);
  EXPECT_EQ(told.operations[2].group_size, 4);
  const auto hangs = operations::hangs({told});
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_EQ(hangs[0].without_dump, 1);
}

TEST(NcclLog, TakesVersionsBehindLaunchersPrefixes) {
  const std::string line = "0: host0:1:1 [0] NCCL INFO Using network Socket\n";
  EXPECT_EQ(read_text("0: NCCL version 2.18.3+cuda12.1\n" + line, "x").wiring.version,
            "2.18.3+cuda12.1");
  EXPECT_EQ(read_text("host0:1:1 [0] NCCL INFO RCCL version : 2.22.3-HEAD:9bf8b4e\n" + line, "x")
                .wiring.version,
            "2.22.3-HEAD:9bf8b4e");
}

TEST(NcclLog, TakesWholeValuesOfSettings) {
  const Told told = read_text(
      "host0:1:1 [0] NCCL INFO NCCL_BUFFSIZE set by environment to 1048576.\n"
      "host0:1:1 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1\n"
      "host0:1:1 [0] NCCL INFO Using network Socket\n",
      "x");
  EXPECT_EQ(told.wiring.settings.at("NCCL_BUFFSIZE"), "1048576.");
  EXPECT_EQ(told.wiring.settings.at("NCCL_IB_DISABLE"), "1");
}

// Lines as Polaris' launcher and nccl-tests of two hosts print them.
TEST(Perf, RowsBehindALaunchersNameAreRead) {
  const Told told = read_text(
      "node0.hsn.cm 0: #       size         count      type   redop    root     time   "
      "algbw   busbw  #wrong     time   algbw   busbw  #wrong\n"
      "node0.hsn.cm 0:    134217728      33554432     float     sum      -1  8776.81   "
      "15.29   28.67       0  8860.42   15.15   28.40       0\n"
      "node0.hsn.cm 0: # Avg bus bandwidth    : 10.4127\n",
      "x");
  EXPECT_EQ(told.kind, "nccl_tests");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].op, "all_reduce");  // 28.67 of bus bandwidth are 1.875 times 15.29
  EXPECT_EQ(told.operations[0].bytes, 134217728);
}

TEST(NcclLog, SaysWhichHostsUseWhichNetwork) {
  const Told told = read_text(
      "a:16902:16954 [3] NCCL INFO NET/IB : No device found.\n"
      "a:16902:16954 [3] NCCL INFO Using network Socket\n"
      "b:695836:695883 [5] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:192.168.1.14<0>\n"
      "b:695836:695883 [5] NCCL INFO Using network IB\n",
      "x");
  EXPECT_THAT(told.wiring.networks,
              ElementsAre(Pair("IB", ElementsAre("b")), Pair("Socket", ElementsAre("a"))));
}

TEST(Perf, RowsAloneAreATable) {
  const Told told = read_text(
      "     1048576        262144     float     sum      -1    100.0   10.49   18.35      0    "
      "101.0 "
      "  10.38   18.17      0\n",
      "log");
  EXPECT_EQ(told.kind, "nccl_tests");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].op,
            "all_reduce");  // nothing else has a bus bandwidth above its bandwidth
  EXPECT_THAT(told.notes, ElementsAre(Not(HasSubstr("half of it"))));
}

// Half of the best is not told where no smaller size reaches it.
TEST(Perf, AJumpHasNoHalf) {
  const std::string rows =
      "        1024           256     float     sum      -1    50.0    0.02    0.04      0     "
      "50.0    "
      "0.02    0.04      0\n"
      "     1048576        262144     float     sum      -1    100.0   10.49   18.35      0    "
      "101.0   10.38   18.17      0\n";
  EXPECT_THAT(read_text(rows, "log").notes, ElementsAre(Not(HasSubstr("half of it"))));
}

TEST(Perf, EverySizeIsAnOperation) {
  const Told told = read_text(
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 "
      "validation: 0\n"
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw "
      "  busbw  error\n"
      "     1048576        262144   float     sum    100.0   10.49   10.49    N/A    100.0   10.49 "
      "  10.49    N/A\n",
      "x");
  EXPECT_EQ(told.kind, "nccl_tests");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].bytes, 1048576);
  EXPECT_EQ(told.operations[0].end_ns, 100'000);
}

TEST(Kind, UnknownFilesGetAGuess) {
  EXPECT_EQ(kind_of("{\"a\": 1}"), Kind::Unknown);
  EXPECT_THAT(nearest_guess("{\"a\": 1}"), HasSubstr("it is JSON, but none of"));
  EXPECT_THAT(nearest_guess("\x80\x04\x95"), HasSubstr("pickle is never opened"));
  EXPECT_THAT(nearest_guess("epoch 3 loss 0.5\n"), HasSubstr("may be a training log"));
  EXPECT_THAT(nearest_guess(""), HasSubstr("empty"));
  EXPECT_THAT(nearest_guess("    1   0.000000    10.0.0.2 \xe2\x86\x92 10.0.0.3    TCP 74 [SYN]\n"),
              HasSubstr("tshark"));
  EXPECT_THAT(nearest_guess("[\n  {\n    \"_source\": {\n      \"layers\": {"),
              HasSubstr("tshark"));
  EXPECT_THAT(nearest_guess("Date first seen         Duration          Proto   Packets\n"),
              HasSubstr("nfdump"));
  EXPECT_THAT(nearest_guess("#  size  count  time  algbw  busbw  #wrong\n"),
              HasSubstr("may be a benchmark's table"));
  EXPECT_THAT(
      nearest_guess("|  Stage  | # iterations | overhead (usec) | message rate (msg/s) |\n"),
      HasSubstr("ucx_perftest"));
  EXPECT_THAT(nearest_guess("name=\"a\"\n# of two\n\n[network]\nhosts = 2\n"),
              HasSubstr("it is TOML"));
  EXPECT_THAT(nearest_guess("a = 1\nb = 2\n"), Not(HasSubstr("it is TOML")));
  EXPECT_EQ(
      kind_of(
          "0,0,1794800771.485034,1794800772.6756709\n0,1,1794800772.675811,1794800772.8044236\n"),
      Kind::StepLog);
}

TEST(Kind, RanksStandInNames) {
  EXPECT_EQ(rank_in_name("a/flight-recorder-rank3.json"), 3);
  EXPECT_EQ(rank_in_name("nccl_trace_rank_12"), 12);
  EXPECT_EQ(rank_in_name("trace_7.json.gz"), 7);
  EXPECT_EQ(rank_in_name("timeline.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("job0.3.et"), 3);
}

// As people show the end of a launcher's log: its header is in what they left out.
TEST(Read, RowsOfATableBetweenLinesOfALogAreRead) {
  const Told told = read_text(
      "[1,0]<stdout>:host0:21:21 [0] NCCL INFO Using network AWS Libfabric\n"
      "[1,0]<stdout>:   536870912  134217728 float sum -1 171351 3.13 3.13 0 171823 3.12 3.12 0\n"
      "[1,1]<stdout>:host1:21:21 [0] NCCL INFO comm 0x7f rank 1 nranks 2 - Destroy COMPLETE\n",
      "log");
  EXPECT_EQ(told.kind, "nccl_tests");
  ASSERT_EQ(told.operations.size(), 1u);
  EXPECT_EQ(told.operations[0].group_size, 2);
  EXPECT_EQ(told.wiring.network, "AWS Libfabric");
}

TEST(Read, OneProcessAloneHasNoRate) {
  const Told told = read_text(
      "#----------------------------------------------------------------\n"
      "# Benchmarking Allreduce \n# #processes = 1 \n"
      "#----------------------------------------------------------------\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "            4         1000         0.12         0.12         0.12\n"
      "        65536          640         1.49         1.49         1.49\n",
      "imb.txt");
  EXPECT_EQ(told.operations.size(), 2u);
  EXPECT_THAT(told.notes, ElementsAre("all_reduce: by one process alone, so that nothing crosses a "
                                      "network"));
}

TEST(NcclLog, BeforeItSaysWhatItUsesItsDevicesDo) {
  const std::string start = "a:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n";
  const auto network = [&](const std::string& line) {
    return read_text(start + "a:1:1 [0] NCCL INFO NET/IB : " + line + "\n", "log").wiring.network;
  };
  EXPECT_EQ(network("No device found."), "Socket");
  EXPECT_EQ(network("Using [0]mlx5_0:1/IB ; OOB eth0:10.0.0.1<0>"), "IB");
  EXPECT_EQ(read_text(start, "log").wiring.network, "");
}

TEST(NcclLog, WarningsEndWithAWholeWord) {
  const Told told = read_text("a:1:1 [0] NCCL WARN NET/OFI Request " + std::string(150, 'x') +
                                  " completed with error 4126 " + std::string(50, 'y') + "\n",
                              "log");
  ASSERT_EQ(told.wiring.warnings.size(), 1u);
  EXPECT_TRUE(told.wiring.warnings[0].ends_with(" error 4126 ...")) << told.wiring.warnings[0];
}

TEST(NcclLog, TellsHowManyChannelsThereAreWhereNotAllAreShown) {
  const Told told = read_text(
      "a:1:1 [0] NCCL INFO Channel 00/08 :    0   1\n"
      "a:1:1 [0] NCCL INFO Channel 01/08 :    0   1\n",
      "log");
  EXPECT_EQ(told.wiring.rings.size(), 2u);
  EXPECT_EQ(told.wiring.channels, 8);
}

TEST(NcclLog, LinesOfRcclTellTheRank) {
  const Told told = read_text(
      "a:1:1 [2] NCCL INFO AllReduce: opCount 2 sendbuff 0x1 recvbuff 0x1 count 9 datatype 8 op 0 "
      "root 0 "
      "comm 0xac [nranks=8] stream 0xa7 task 0 globalrank 2\n",
      "log");
  ASSERT_EQ(told.operations.size(), 1u);
  EXPECT_EQ(told.operations[0].rank, 2);
  EXPECT_EQ(told.operations[0].group_size, 8);
}

}  // namespace
}  // namespace tw::readers
