// SPDX-License-Identifier: Apache-2.0
// Files that were cut off, at every byte: never a failure, never nothing without a reason, never more than the whole. And files
// with single rows of no use, or of no use at all: what is said of them.

#include "trainwire/chakra/et_file.h"
#include "trainwire/readers/given.h"
#include "trainwire/readers/read.h"

#include <gmock/gmock.h>

namespace tw::readers {
namespace {

using operations::Told;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kFlightRecorder =
    R"({"version":"2.10","pg_config":{"0":{"desc":"default_pg","name":"0","ranks":"[0, 1]"}},"entries":[
{"collective_seq_id":1,"input_dtypes":["Float"],"input_sizes":[[16]],"is_p2p":false,"output_sizes":[[16]],"process_group":["0","default_pg"],"profiling_name":"nccl:all_reduce","state":"completed","time_created_ns":1794800771362507917},
{"collective_seq_id":2,"input_dtypes":["Half"],"input_sizes":[[8]],"is_p2p":false,"output_sizes":[[16]],"process_group":["0","default_pg"],"profiling_name":"nccl:_all_gather_base","state":"started","time_created_ns":1794800771362507999}]})";

constexpr std::string_view kInspector =
    R"({"header":{"id":"0x7f8c","rank":1,"n_ranks":8,"nnodes":2},"metadata":{"hostname":"n1","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":14,"coll_msg_size_bytes":1048576,"coll_exec_time_us":619}})"
    "\n"
    R"({"header":{"id":"0x7f8c","rank":1,"n_ranks":8,"nnodes":2},"metadata":{"hostname":"n1","pid":7},"coll_perf":{"coll":"AllGather","coll_sn":3,"coll_msg_size_bytes":2097152,"coll_exec_time_us":820}})"
    "\n";

constexpr std::string_view kHorovod = R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros":1700000000000000}},
{"name": "NEGOTIATE_ALLREDUCE", "ph": "B", "ts": 100, "pid": 1},
{"name": "1", "ph": "X", "ts": 190, "pid": 1, "dur": 0},
{"ph": "E", "ts": 200, "pid": 1},
{"name": "ALLREDUCE", "ph": "B", "ts": 200, "pid": 1},
{"name": "NCCL_ALLREDUCE", "ph": "B", "ts": 210, "pid": 1},
{"ph": "E", "ts": 260, "pid": 1},
{"ph": "E", "ts": 270, "pid": 1, "args": {"dtype": "float32", "shape": "[10, 4]"}}
])";

constexpr std::string_view kDeepSpeed =
    "[2023-08-02 10:11:12,345] [INFO] [config.py:964:print]   train_batch_size ............. 64\n"
    "[2023-08-02 10:11:22,345] [INFO] [timer.py:215:stop] epoch=0/micro_step=10/global_step=10, "
    "RunningAvgSamplesPerSec=20.1, CurrSamplesPerSec=32.0, MemAllocated=0.25GB\n"
    "[2023-08-02 10:11:42,345] [INFO] [timer.py:215:stop] epoch=0/micro_step=20/global_step=20, "
    "RunningAvgSamplesPerSec=20.1, CurrSamplesPerSec=16.0, MemAllocated=0.25GB\n";

constexpr std::string_view kPerf =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20\n"
    "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   "
    "busbw  error\n"
    "     1048576        262144   float     sum    100.0   10.49   10.49    N/A    100.0   10.49   "
    "10.49    N/A\n";

// As PyTorch 1.13 writes it without Kineto.
constexpr std::string_view kOldTrace =
    R"([{"name": "aten::addmm", "ph": "X", "ts": 120, "dur": 300, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "ProfilerStep#1", "ph": "X", "ts": 115, "dur": 226722, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "gloo:all_reduce", "ph": "X", "ts": 9924, "dur": 215898, "tid": 3, "pid": "CPU functions", "args": {}}])";

constexpr std::string_view kExecution =
    R"({"schema": "1.1.0-chakra.0.0.4", "pid": 7, "nodes": [
{"id": 2, "name": "aten::add", "ctrl_deps": 1, "attrs": []},
{"id": 3, "name": "record_param_comms", "ctrl_deps": 1, "attrs": [{"name": "collective_name", "type": "string", "value": "allreduce"},
 {"name": "dtype", "type": "string", "value": "Float"}, {"name": "in_msg_nelems", "type": "uint64", "value": 1000},
 {"name": "out_msg_nelems", "type": "uint64", "value": 1000}, {"name": "pg_name", "type": "string", "value": "0"}, {"name": "pg_size", "type": "uint64", "value": 2}]}],
"finish_ts": 9})";

const std::string kChakra =
    chakra::et_bytes({{.id = 1, .name = "a", .type = chakra::NodeType::Compute, .duration_us = 5},
                      {.id = 2,
                       .name = "b",
                       .type = chakra::NodeType::Collective,
                       .waits_for = {1},
                       .collective = 0,
                       .bytes = 1 << 20}});

bool tells(const Told& told) {
  return told.records > 0 || !told.steps.empty() || !told.wiring.empty();
}

void expect_sound_cuts(std::string_view text, std::string_view name) {
  const Told whole = read_text(text, "rank1.json");
  EXPECT_TRUE(tells(whole)) << name;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const Told some = read_text(text.substr(0, cut), "rank1.json");
    EXPECT_TRUE(tells(some) || !some.reasons.empty()) << name << " cut at " << cut;
    EXPECT_LE(some.operations.size(), whole.operations.size()) << name << " cut at " << cut;
    EXPECT_LE(some.steps.size(), whole.steps.size()) << name << " cut at " << cut;
    for (std::size_t i = 0; i < some.operations.size() && some.kind == whole.kind; ++i) {
      EXPECT_EQ(some.operations[i].op, whole.operations[i].op) << name << " cut at " << cut;
    }
  }
}

TEST(Cut, AtEveryByteTellsWhatIsBeforeOrWhyNot) {
  expect_sound_cuts(kFlightRecorder, "flight recorder");
  expect_sound_cuts(kInspector, "inspector");
  expect_sound_cuts(kHorovod, "horovod");
  expect_sound_cuts(kDeepSpeed, "deepspeed");
  expect_sound_cuts(kPerf, "nccl-tests");
  expect_sound_cuts(kOldTrace, "old trace");
  expect_sound_cuts(kExecution, "execution trace");
  expect_sound_cuts(kChakra, "Chakra");
}

TEST(ExecutionTrace, TellsSizesWithoutTimes) {
  const Told told = read_text(kExecution, "rank1.json");
  EXPECT_EQ(told.kind, "execution_trace");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].op, "all_reduce");
  EXPECT_EQ(told.operations[0].bytes, 4000);
  EXPECT_EQ(told.operations[0].group_size, 2);
  EXPECT_EQ(told.operations[0].start_ns, std::nullopt);
  const Told chakra = read_text(kChakra, "job.3.et");
  EXPECT_EQ(chakra.kind, "chakra");
  ASSERT_THAT(chakra.operations, SizeIs(1));
  EXPECT_EQ(chakra.operations[0].bytes, 1 << 20);
}

TEST(Cut, ARecordThatIsCutOffIsCounted) {
  const Told told = read_text(kInspector.substr(0, kInspector.size() - 20), "x.log");
  EXPECT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.skipped, 1U);
  EXPECT_THAT(told.reasons, Contains(HasSubstr("cut off")));
}

TEST(DeepSpeed, SamplesASecondAreStepsByTheBatchSize) {
  const Told told = read_text(kDeepSpeed, "x.log");
  EXPECT_EQ(told.kind, "pace_log");
  ASSERT_THAT(told.steps, SizeIs(2));
  EXPECT_EQ(told.steps[0].number, 10);
  EXPECT_EQ(told.steps[0].duration_ns, 2'000'000'000);  // 64 samples at 32 a second
  EXPECT_EQ(told.steps[1].duration_ns, 4'000'000'000);
  const std::string_view rates = "global_step=10, CurrSamplesPerSec=32.0, MemAllocated=0.25GB\n";
  EXPECT_THAT(read_text(rates, "x.log").steps, SizeIs(0));
  EXPECT_THAT(read_text(rates, "x.log").reasons, ElementsAre(HasSubstr("train_batch_size")));
}

TEST(Kineto, TracesWithoutItHaveTheirOwnClock) {
  const Told told = read_text(kOldTrace, "rank1.json");
  EXPECT_EQ(told.kind, "kineto");
  ASSERT_THAT(told.operations, SizeIs(1));
  EXPECT_EQ(told.operations[0].op, "all_reduce");
  EXPECT_EQ(told.operations[0].rank, 1);
  EXPECT_EQ(told.operations[0].clock, operations::Clock::Process);
  EXPECT_EQ(told.operations[0].start_ns, 9'924'000);
  ASSERT_THAT(told.steps, SizeIs(1));
  EXPECT_EQ(told.steps[0].start_ns, std::nullopt);
  EXPECT_THAT(told.computing, ElementsAre(operations::Span{120'000, 420'000}));
}

TEST(Doubtful, StepsOfACsvAreUsedWithoutTheLastHalfRow) {
  std::string text = "rank,step,start,end\n";
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    text += "0," + number + "," + number + ".0," + number + ".5\n";
  }
  const Told told = read_text(text + "0,22", "steps.csv");
  EXPECT_EQ(told.kind, "step_log");
  EXPECT_THAT(told.steps, SizeIs(20));
  EXPECT_EQ(told.skipped, 1U);
  EXPECT_THAT(told.reasons, ElementsAre(HasSubstr("1 rows tell no step; the first: line 22")));
}

TEST(Doubtful, RowsOfNcclTestsAreCounted) {
  const Told told = read_text(
      "0: # nThread 1 nGpus 1 minBytes 1 maxBytes 8589934592 step: 2(factor)\n"
      "0: #       size         count    type   redop     time   algbw   busbw  error     time   "
      "algbw   busbw  error\n"
      "0:      1048576        262144   float     sum    74.78   14.02   24.54    N/A    76.17   "
      "13.77   24.09    N/A\n"
      "0:      2097152        524288   float     sum      nan     nan     nan    N/A      nan     "
      "nan     nan    N/A\n"
      "0:      4194304       1048\n",
      "perf.txt");
  EXPECT_EQ(told.kind, "nccl_tests");
  EXPECT_EQ(told.records, 1U);
  EXPECT_EQ(told.skipped, 2U);
  EXPECT_THAT(told.reasons, Contains("2 rows that are cut off or tell no time"));
}

TEST(Doubtful, TimesOfMegatronThatAreNoneAreCounted) {
  const auto of = [](int number, const std::string& time) {
    return " iteration " + std::to_string(number) +
           "/ 500 | elapsed time per iteration (ms): " + time + " | lr: 1\n";
  };
  const Told told =
      read_text(of(1, "510.0") + of(2, "nan") + of(3, "-5") + of(4, "1e308") + of(5, "520.0") +
                    of(5, "520.5") + of(6, "530.0") + of(5, "520.7") + of(6, "530.2"),
                "train.log");
  EXPECT_EQ(told.kind, "pace_log");
  ASSERT_THAT(told.steps, SizeIs(3));
  EXPECT_EQ(told.steps[2].duration_ns, 530'000'000);
  EXPECT_EQ(told.skipped, 6U);
  EXPECT_THAT(told.reasons, Contains("3 lines whose time of a step is none"));
  EXPECT_THAT(told.reasons, Contains(HasSubstr("3 lines tell an iteration again")));
  // From a checkpoint on, iterations come again, and count.
  const Told again = read_text(of(1, "1") + of(2, "1") + of(3, "1") + of(4, "1") + of(1, "1"), "x");
  EXPECT_THAT(again.steps, SizeIs(5));
}

TEST(Doubtful, TracesWithoutTimesAreNotTakenForOnesWithoutKernels) {
  const Told told = read_text(R"json({"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "ts": NaN, "dur": 5},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "ts": 7, "dur": NaN}]})json",
                              "trace.json");
  EXPECT_EQ(told.kind, "kineto");
  EXPECT_THAT(told.reasons, ElementsAre("2 events whose times are no numbers"));
}

TEST(Doubtful, BracketsAloneAreNoJson) {
  const auto reason = [](std::string_view text) { return read_text(text, "x").reasons.at(0); };
  EXPECT_THAT(reason("[job]\nmodel = \"a\"\n"), StartsWith("it is TOML"));
  EXPECT_THAT(reason("[[link]]\nrate = \"a\"\n"), StartsWith("it is TOML"));
  EXPECT_THAT(reason("{'loss': 0.5, 'epoch': 1}\n"), HasSubstr("dictionaries of Python"));
  EXPECT_THAT(reason("[INFO] hello\n"), Not(HasSubstr("JSON")));
  EXPECT_THAT(reason("{\"a\": 1}"), StartsWith("it is JSON"));
  EXPECT_THAT(reason("[[1, 2], [\"a\"]]"), Not(HasSubstr("TOML")));
  EXPECT_THAT(reason("[ [ {\"a\": 1} ] ]"), StartsWith("it is JSON"));
}

TEST(Doubtful, EmptyCapturesAreNamedBesideWhatTells) {
  std::vector<Told> told = {read_text("Not a record.\n", "readme.txt")};
  EXPECT_FALSE(tell_something(told));
  told.push_back(read_text("rank,step,start,end\n0,0,1,2\n0,1,2,3\n", "x.csv"));
  EXPECT_TRUE(tell_something(told));
  add_empty_captures({"a.pcap"}, told);
  ASSERT_THAT(told, SizeIs(3));
  EXPECT_EQ(told[2].kind, "capture");
  EXPECT_THAT(told[2].reasons, ElementsAre(HasSubstr("holds no packets")));
}

TEST(Doubtful, TheNameIsNotPartOfTheReason) {
  const Told perf = read_text("# nThread 1 nGpus 1\n", "a: b.txt");
  EXPECT_THAT(perf.reasons, Contains(StartsWith("no row of nccl-tests")));
  const Told osu = read_text("# OSU MPI Latency Test v7.5\n", "osu.txt");
  EXPECT_THAT(osu.reasons, Contains(StartsWith("the table has no row")));
}

TEST(Damaged, ALogWithHolesIsRead) {
  const std::string hole(100, '\0');
  const std::string log =
      "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 - Init COMPLETE\n" + hole +
      "a:1:2 [0] NCCL INFO Using network Socket\n";
  for (const std::string& text : {log, hole + log}) {
    const Told told = read_text(text, "log");
    EXPECT_EQ(told.kind, "nccl_log");
    EXPECT_EQ(told.records, 2U);
    EXPECT_THAT(told.reasons, Contains(HasSubstr("bytes are NUL")));
  }
  const Told table = read_text(std::string(kPerf) + hole, "table");
  EXPECT_EQ(table.records, 1U);
  EXPECT_THAT(table.reasons, Contains(HasSubstr("100 bytes are NUL")));
  // Halves of characters, and numbers of a program, are no holes.
  EXPECT_EQ(read_text(std::string("N\0C\0C\0L\0", 8), "utf16").kind, "unknown");
  EXPECT_EQ(read_text(std::string("\x7f"
                                  "ELF\x02\x01\0\0\0\0\x03\0\0\0",
                                  14),
                      "program")
                .kind,
            "unknown");
}

TEST(Damaged, WhatWasCutBeforeAnythingWasToldIsNotUsed) {
  const Told told = read_text(kHorovod.substr(0, kHorovod.find("{\"name\": \"NCCL")), "t.json");
  EXPECT_EQ(told.kind, "horovod");
  EXPECT_THAT(told.reasons.front(), HasSubstr("before anything in it tells of a collective"));
}

TEST(Damaged, WhatIsNeitherTextNorACaptureIsNamed) {
  EXPECT_THAT(nearest_guess("\x80\x04\x95"
                            "abc"),
              HasSubstr("pickle"));
  EXPECT_TRUE(
      is_otherwise_written("\x80\x04\x95"
                           "abc"));
  EXPECT_TRUE(is_otherwise_written("SQLite format 3"));
  EXPECT_THAT(nearest_guess(
                  R"([{"name": "AllReduce", "cat": "COLL", "ph": "b", "args": {"CommHash": 6}}])"),
              HasSubstr("NCCL's example profiler"));
  EXPECT_THAT(
      read_text(
          R"({"traceEvents": [{"name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ph": "X", "pid": 1, "ts": 1.5, "dur": 2}]})",
          "t")
          .reasons,
      Contains(HasSubstr("JAX")));
  EXPECT_THAT(nearest_guess("<!DOCTYPE html><html>404 step 3</html>"), HasSubstr("for browsers"));
  EXPECT_THAT(nearest_guess("# Avg bus bandwidth    : 92.3405 \n"), HasSubstr("the end of what"));
  EXPECT_THAT(nearest_guess("Job summary\n===\nCommunicators... (0.00s)\n"), HasSubstr("ncclras"));
}

}  // namespace
}  // namespace tw::readers
