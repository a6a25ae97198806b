// SPDX-License-Identifier: Apache-2.0
// Files with single rows of no use, or of no use at all: what is said of them.
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

}  // namespace
}  // namespace tw::readers
