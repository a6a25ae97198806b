// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/perf_table.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace tw::nccl {
namespace {

// As nccl-tests 2.0 to 2.10 print it.
constexpr const char* kOld = R"(# nThread 1 nGpus 8 minBytes 1 maxBytes 8589934592 step: 2(factor)
# Using devices
#   Rank  0 Pid 112424 on localhost device  0 [0x00] A100-SXM4-40GB
#   Rank  1 Pid 112424 on localhost device  1 [0x00] A100-SXM4-40GB
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
hostname:3442:3442 [0] NCCL INFO Launch mode Parallel
           0             0   float     sum    35.20    0.00    0.00    N/A    34.05    0.00    0.00    N/A
     1048576        262144   float     sum    74.78   14.02   24.54    N/A    76.17   13.77   24.09    N/A
  8589934592    2147483648   float     sum    63896  134.44  235.26    N/A    63959  134.30  235.03    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 68.4048
)";

TEST(PerfTable, IsReadAsPrinted) {
  const PerfFile file = parse_perf(kOld, "log");
  ASSERT_EQ(file.tables.size(), 1u);
  ASSERT_EQ(file.tables[0].rows.size(), 3u);
  const PerfRow& row = file.tables[0].rows[1];
  EXPECT_EQ(row.bytes, 1048576);
  EXPECT_EQ(row.type, "float");
  EXPECT_DOUBLE_EQ(row.out_of_place->time_us, 74.78);
  EXPECT_DOUBLE_EQ(row.in_place->busbw_gbs, 24.09);
  EXPECT_EQ(file.hosts, (std::vector<std::string>{"localhost", "localhost"}));
  EXPECT_EQ(file.device, "A100-SXM4-40GB");
  EXPECT_FALSE(file.alone);
}

// nccl-tests 2.8: all-to-all prints nothing in a column that its header has.
TEST(PerfTable, RowsOfOldAllToAllLackAColumn) {
  const PerfFile file = parse_perf(
      R"(#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
     1048576         65536   float            500.0    2.10    1.57  0e+00     0.50  2097.15  1572.86  1e+00
     2097152        131072   float           1000.0    2.10    1.57  0e+00     0.50  4194.30  3145.73  1e+00
)",
      "log");
  ASSERT_EQ(file.tables.size(), 1u);
  ASSERT_EQ(file.tables[0].rows.size(), 2u);
  EXPECT_EQ(file.contradictory, 0);
  EXPECT_EQ(file.tables[0].operation, Operation::AllToAll);
  EXPECT_EQ(file.tables[0].ranks, 4);
  EXPECT_DOUBLE_EQ(file.tables[0].rows[1].timed().time_us, 1000.0);
}

// Only small sizes, of which rounding hides the factor: in place nothing else is unchecked.
TEST(PerfTable, SendsAndReceivesAreKnownByWhatIsUnchecked) {
  const PerfFile file = parse_perf(
      R"(#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
        4096          1024     float     sum      -1    30.74    0.13    0.13      0    30.69    0.13    0.13    N/A
        8192          2048     float     sum      -1    31.76    0.26    0.26      0    31.59    0.26    0.26    N/A
)",
      "log");
  EXPECT_EQ(file.tables[0].operation, Operation::SendRecv);
}

// As a terminal's log has it.
TEST(PerfTable, IsReadInColours) {
  const PerfFile file = parse_perf(
      "\x1b[32m#       size         count      type   redop    root     time   algbw   busbw "
      "#wrong     time   algbw   busbw #wrong\x1b[0m\n"
      "\x1b[32m     2097152        524288     float     sum      -1    113.2   18.53   18.53      "
      "2 "
      "   93.35   22.46   22.46      0\x1b[0m\n",
      "log");
  ASSERT_EQ(file.tables.size(), 1u);
  EXPECT_EQ(file.tables[0].rows.size(), 1u);
}

// With root and #wrong, tagged by the launcher, the log glued to a row.
TEST(PerfTable, IsReadWithWhatIsAroundIt) {
  const PerfFile file = parse_perf(
      R"([1,0]<stdout>:# Collective test starting: all_reduce_perf
[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
[1,0]<stdout>:     2097152        524288     float     sum      -1    113.2   18.53   18.53      2    93.35   22.46   22.46      0host1:12:34 [0] NCCL INFO x
[1,0]<stdout>:     4194304       1048576     float     sum      -1    154.4   27.16   27.16      0    153.3   27.37   27.37      0  host1:12:34 [0] NCCL INFO Channel
NCCL version 2.21.5+cuda12.4
)",
      "log");
  ASSERT_EQ(file.tables.size(), 1u);
  EXPECT_EQ(file.tables[0].operation, Operation::AllReduce);
  ASSERT_EQ(file.tables[0].rows.size(), 2u);
  EXPECT_EQ(file.tables[0].rows[0].wrong, 2);
  EXPECT_EQ(file.tables[0].rows[1].bytes, 4194304);
  EXPECT_EQ(file.nccl_version, "2.21.5+cuda12.4");
}

TEST(PerfTable, IsReadBehindPrefixesOfSrunAndKubectl) {
  for (const std::string prefix : {"0: ", " 12: ", "2026-11-15T05:16:39.907123456Z ",
                                   "[pod/job-0/main] 2026-11-15T05:16:39.907123456+02:00 "}) {
    std::string text;
    const std::string_view old = kOld;
    for (std::size_t begin = 0; begin < old.size();) {
      const std::size_t end = old.find('\n', begin) + 1;
      text += prefix + std::string(old.substr(begin, end - begin));
      begin = end;
    }
    const PerfFile file = parse_perf(text, "log");
    ASSERT_EQ(file.tables.size(), 1u) << prefix;
    EXPECT_EQ(file.tables[0].rows.size(), 3u) << prefix;
    EXPECT_EQ(file.hosts.size(), 2u) << prefix;
    EXPECT_EQ(file.unreadable, 0) << prefix;
  }
}

TEST(PerfTable, CountsRowsThatAreCutOffOrTellNoTime) {
  for (const std::string row :
       {"1048576", "1048576  2621", "1048576 262144 flo", "1048576 262144 float sum 74.7",
        "1048576 262144 float sum nan nan nan N/A nan nan nan N/A",
        "1048576 262144 float sum -74.78 14.02 24.54 N/A -76.1 13.77 24.09 N/A",
        "-1048576 262144 float sum 74.78 14.02 24.54 N/A 76.1 13.77 24.09 N/A"}) {
    const PerfFile file = parse_perf(kOld + row + "\n", "log");
    EXPECT_EQ(file.tables[0].rows.size(), 3u) << row;
    EXPECT_EQ(file.unreadable, 1) << row;
  }
  EXPECT_EQ(parse_perf(std::string(kOld) + "12 steps\n3 4 apples\n", "log").unreadable, 0);
}

TEST(PerfTable, OfSeveralProgramsIsSeveral) {
  const std::string header =
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  const PerfFile file =
      parse_perf("./all_reduce_perf -b 8\n" + header +
                     " 1048576 262144 float sum -1 100 10.49 19.66 0 100 10.49 19.66 0\n" +
                     "./alltoall_perf -b 8\n" + header +
                     " 1048576 16384 float none -1 200 5.24 4.92 0 N/A N/A N/A N/A\n",
                 "log");
  ASSERT_EQ(file.tables.size(), 2u);
  EXPECT_EQ(file.tables[0].operation, Operation::AllReduce);
  EXPECT_EQ(file.tables[1].operation, Operation::AllToAll);
  EXPECT_FALSE(file.tables[1].rows[0].in_place);
}

// Connections are made at the first size, so that the log comes between a row's size and its times: nccl-tests 2.13 with NCCL 2.24.
TEST(PerfTable, RowsIntoWhichTheLogCameAreJoined) {
  const std::string header =
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time "
      "  algbw   busbw #wrong\n";
  const std::string log =
      "host0:77:80 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n"
      "host0:77:80 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1\n";
  const std::string good =
      "     1048576        262144     float     sum      -1    100.0   10.49   10.49      0    "
      "101.0 "
      "  10.38   10.38      0\n";
  const std::string torn = "     2097152        524288     float     sum      -1" + log +
                           "    200.0   10.49   10.49      0" + log +
                           "    201.0   10.43   10.43      3\n";
  const PerfFile file = parse_perf(header + torn + good, "log");
  ASSERT_EQ(file.tables[0].rows.size(), 2u);
  EXPECT_DOUBLE_EQ(file.tables[0].rows[0].out_of_place->time_us, 200);
  EXPECT_DOUBLE_EQ(file.tables[0].rows[0].in_place->time_us, 201);
  EXPECT_EQ(file.tables[0].rows[0].wrong, 3);
  EXPECT_EQ(file.unreadable, 0);
  // Its end never comes.
  const PerfFile cut = parse_perf(
      header + "     2097152        524288     float     sum      -1" + log + good, "log");
  EXPECT_EQ(cut.tables[0].rows.size(), 1u);
  EXPECT_EQ(cut.unreadable, 1);
}

PerfFile of_two_ranks(const std::string& rows) {
  return parse_perf(
      "#  Rank  0 Group  0 Pid  1 on  n0 device  0 [0x0f] X\n"
      "#  Rank  1 Group  0 Pid  1 on  n1 device  0 [0x0f] X\n"
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
          rows,
      "log");
}

TEST(PerfTable, WithoutANameIsKnownByItsColumns) {
  const auto of = [](const std::string& columns, const std::string& busbw) {
    return of_two_ranks(" 1048576 262144 float " + columns + " 100 10.49 " + busbw +
                        " 0 100 10.49 " + busbw + " 0\n")
        .tables[0]
        .operation;
  };
  EXPECT_EQ(of("sum -1", "10.49"), Operation::AllReduce);  // 2 (n - 1) / n is 1 of two ranks
  EXPECT_EQ(of("sum -1", "5.24"), Operation::ReduceScatter);
  EXPECT_EQ(of("sum 0", "10.49"), Operation::Reduce);
  EXPECT_EQ(of("none 0", "10.49"), Operation::Broadcast);
  EXPECT_EQ(of("none -1", "10.49"), Operation::SendRecv);
  EXPECT_EQ(of("none -1", "5.24"), std::nullopt);  // all-gather, or all-to-all
}

// Of the devices' list a line is left, or none. 2(n-1)/n is 1.97220 to 1.97226 of 72 ranks alone, and 1 of two; parts of an eighth are
// of eight.
TEST(PerfTable, TellsItsRanksWhereTheListIsTorn) {
  const auto of = [](const std::string& row) { return parse_perf(row + "\n", "log").tables[0]; };
  const PerfTable wide =
      of("#  Rank 71 Group  0 Pid 1 on a device  3 [0x01] X\n"
         "8589934592 2147483648 float sum -1 20299 423.16 834.57 0 20006 429.37 846.82 0");
  EXPECT_EQ(wide.operation, Operation::AllReduce);
  EXPECT_EQ(wide.ranks, 72);
  const PerfTable pair =
      of("1073741824 268435456 float sum -1 22661 47.38 47.38 0 22658 47.39 47.39 0");
  EXPECT_EQ(pair.operation, Operation::AllReduce);
  EXPECT_EQ(pair.ranks, 2);
  const PerfTable parts = of("512 16 float sum -1 22.88 0.02 0.02 0 22.14 0.02 0.02 0");
  EXPECT_EQ(parts.operation, Operation::ReduceScatter);
  EXPECT_EQ(parts.ranks, 8);
  // 0.235 and 0.395 are 1.68, and 0.225 and 0.405 are 1.8: seven to nine ranks.
  const PerfTable small = of("32768 8192 float sum -1 141.7 0.23 0.40 N/A 140.0 0.23 0.41 N/A");
  EXPECT_EQ(small.operation, Operation::AllReduce);
  EXPECT_EQ(small.ranks, 0);
}

// A row of Hydra's -l, of a table that was cut off, and one before there was a column "redop".
TEST(PerfTable, GathersAreKnownByTheirPartsAndChecks) {
  const PerfTable labelled =
      parse_perf(
          "[0]  65536   512  float  none  -1  107.5  0.61  0.59  0  105.6  0.62  0.60  0\n"
          "[0] 131072  1024  float  none  -1  210.0  0.62  0.60  0  202.6  0.65  0.63\n",
          "log")
          .tables[0];
  EXPECT_EQ(labelled.rows.size(), 1u);
  EXPECT_EQ(labelled.operation, Operation::AllGather);
  EXPECT_EQ(labelled.ranks, 32);
  const PerfTable old =
      parse_perf("4096 64 float 34.50 0.12 0.11 0e+00 34.58 0.12 0.11 0e+00\n", "log").tables[0];
  EXPECT_EQ(old.operation, Operation::AllGather);
  EXPECT_EQ(old.ranks, 16);
  // Of two ranks each gets a half of 1 MiB in 47.38 us.
  const PerfTable older =
      parse_perf("1048576 131072 float 47.38 11.06 11.06 0e+00 46.84 11.19 11.19 0e+00\n", "log")
          .tables[0];
  EXPECT_EQ(older.operation, Operation::AllGather);
  EXPECT_EQ(older.ranks, 2);
  EXPECT_DOUBLE_EQ(older.rows[0].timed().algbw_gbs, 22.12);
}

TEST(PerfTable, LinesOfRcclTestsAreHalvesOfRows) {
  const PerfFile file = parse_perf(
      R"({"#wrong":"0","algBw":0.0533,"busBw":0.08,"gpus":4,"inPlace":0,"name":"AllReduce","redop":"sum","size":1024,"time":19.2,"type":"float"}
{"#wrong":"0","algBw":0.0514,"busBw":0.0771,"gpus":4,"inPlace":1,"name":"AllReduce","redop":"sum","size":1024,"time":19.9,"type":"float"}
{"#wrong":"0","algBw":)",
      "log");
  ASSERT_EQ(file.tables.size(), 1u);
  EXPECT_EQ(file.tables[0].operation, Operation::AllReduce);
  EXPECT_EQ(file.tables[0].ranks, 4);
  ASSERT_EQ(file.tables[0].rows.size(), 1u);
  EXPECT_DOUBLE_EQ(file.tables[0].rows[0].out_of_place->time_us, 19.2);
  EXPECT_DOUBLE_EQ(file.tables[0].rows[0].in_place->busbw_gbs, 0.0771);
  EXPECT_EQ(file.unreadable, 1);
}

TEST(PerfTable, IsNamedByTheLineBehindIt) {
  const PerfFile file = of_two_ranks(
      " 1048576 131072 float none -1 100 10.49 5.24 0 100 10.49 5.24 N/A\n"
      "# Collective test concluded: alltoall_perf\n");
  EXPECT_EQ(file.tables[0].operation, Operation::AllToAll);
}

TEST(PerfTable, WithoutHeaderIsReadByItsWords) {
  const PerfFile file = parse_perf(
      "  65536  8192  float  16.57  3.96  1.98  0e+00  13.83  4.74  2.37  0e+00\n", "log");
  EXPECT_DOUBLE_EQ(file.tables[0].rows[0].in_place->time_us, 13.83);
}

// Two processes that are both rank 0 never met.
TEST(PerfTable, TellsWhenProcessesMeasuredAlone) {
  const std::string text =
      std::string(
          "#   Rank  0 Pid   1320 on ip-172-31-20-228 device  0 [0x00] Tesla V100-SXM2-16GB\n"
          "#   Rank  0 Pid   2066 on ip-172-31-22-230 device  0 [0x00] Tesla V100-SXM2-16GB\n") +
      " 1310720000 327680000 float sum 3456 379.26 0.00 0e+00 12.4 105703.23 0.00 0e+00\n";
  EXPECT_TRUE(parse_perf(text, "log").alone);
}

TEST(PerfTable, LeavesOutWhatContradictsItself) {
  const std::string good = " 1048576 262144 float sum 100 10.49 19.66 0 100 10.49 19.66 0\n";
  const std::string bad = " 1048576 262144 float sum 100 99.0 19.66 0 100 10.49 19.66 0\n";
  const PerfFile file = parse_perf(good + bad, "log");
  EXPECT_EQ(file.tables[0].rows.size(), 1u);
  EXPECT_EQ(file.contradictory, 1);
  EXPECT_THROW(parse_perf(bad, "log"), DataError);
}

TEST(PerfTable, IsReadFromJson) {
  const PerfFile file = parse_perf(R"({"version": 3, "args": ["/opt/all_gather_perf", "-b", "8"],
    "nccl_version": "2.28.9", "config": {"devices": [{"rank": 0, "hostname": "a", "device_info": "NVIDIA H100"},
    {"rank": 1, "hostname": "b", "device_info": "NVIDIA H100"}]},
    "results": [{"size": 1048576, "count": 131072, "type": "float", "redop": "none", "root": -1,
    "out_of_place": {"time": 100.0, "alg_bw": 10.48, "bus_bw": 5.24, "nwrong": "nan"},
    "in_place": {"time": "nan", "alg_bw": 0, "bus_bw": 0, "nwrong": 0}}]})",
                                   "log.json");
  EXPECT_EQ(file.tables[0].operation, Operation::AllGather);
  EXPECT_EQ(file.hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(file.tables[0].rows[0].in_place);
  EXPECT_THROW(parse_perf("{\"results\": [", "cut"), DataError);
  EXPECT_THROW(parse_perf("{\"results\": 7}", "other"), DataError);
}

TEST(PerfTable, CutAtEveryByteIsRowsOrAnError) {
  const std::string text = kOld;
  for (std::size_t end = 0; end < text.size(); ++end) {
    try {
      const PerfFile file = parse_perf(text.substr(0, end), "cut");
      EXPECT_FALSE(file.tables.at(0).rows.empty());
    } catch (const DataError&) {
    }
  }
}

TEST(PerfTable, WithoutRowsIsAnError) {
  EXPECT_THROW(parse_perf("", "empty"), DataError);
  EXPECT_THROW(parse_perf("1 2 3 4 5 6 7 8 9 10 11 12\n", "numbers"), DataError);
}

TEST(PerfTable, TablesOfTheFirstVersionHaveMilliseconds) {
  const PerfFile file = parse_perf(
      "#   Rank  0 on  node1 device  0 [0x04] Tesla P100-PCIE-16GB\n"
      "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  "
      "busbw      res\n"
      "     1048576        262144   float     sum    0.179   5.87  10.27    1e-06    0.177   5.92  "
      "10.36    1e-06\n",
      "log");
  ASSERT_EQ(file.tables.size(), 1U);
  EXPECT_DOUBLE_EQ(file.tables[0].rows.at(0).out_of_place->time_us, 179);
  EXPECT_DOUBLE_EQ(file.tables[0].rows.at(0).in_place->busbw_gbs, 10.36);
}

std::optional<Operation> operation_of(const std::string& row) {
  return parse_perf(
             "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
                 row,
             "log")
      .tables.at(0)
      .operation;
}

// Rows of nccl-tests 2.13 and rccl-tests whose header of ranks was cut off.
TEST(PerfTable, OperationsShowInPartsAndInWhatIsChecked) {
  EXPECT_EQ(operation_of("134217728 33554432 float sum -1 21120 6.36 6.36 0 21131 6.35 6.35 N/A\n"),
            Operation::SendRecv);
  EXPECT_EQ(
      operation_of("8388608 1048576 float none -1 91.1 92.08 46.04 0 94.94 88.36 44.18 N/A\n"),
      Operation::AllToAll);
  EXPECT_EQ(operation_of("8388608 1048576 float sum -1 91.1 92.08 46.04 0 94.94 88.36 44.18 0\n"),
            Operation::ReduceScatter);
  // All-reduce of two ranks, or a send that was not checked.
  EXPECT_EQ(
      operation_of("8388608 2097152 float sum -1 91.1 92.08 92.08 N/A 94.94 88.36 88.36 N/A\n"),
      std::nullopt);
  EXPECT_EQ(parse_perf("# Collective test starting: alltoallv_perf\n"
                       " 8388608 1048576 float none -1 91.1 92.08 46.04 0 94.94 88.36 44.18 0\n",
                       "log")
                .tables.at(0)
                .operation,
            Operation::AllToAll);
}

TEST(PerfTable, WhatTheTestFailedOfIsTold) {
  const std::string failed =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 128 step: 2(factor)\n"
      "sw53: Test NCCL failure common.cu:958 'unhandled system error (run with NCCL_DEBUG=INFO for "
      "details) / '\n .. sw53 pid 58680: Test failure common.cu:842\n";
  try {
    parse_perf(failed, "log");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("failed before its first row: unhandled system error"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(parse_perf(kOld + failed, "log").failure,
            "unhandled system error (run with NCCL_DEBUG=INFO for details)");
}

// 32 KiB from the other one in 17.57 us.
TEST(PerfTable, OldGathersCountWhatComesFromOthers) {
  const PerfFile file = parse_perf(R"($ ./all_gather_perf -b 64K -e 1M -f 4 -g 2
#   Rank  0 Pid   4100 on    node-a device  0 [0x1a] TITAN RTX
#   Rank  1 Pid   4100 on    node-a device  1 [0x1b] TITAN RTX
#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error
       65536          8192   float    17.57    1.86    1.86  0e+00    14.83    2.21    2.21  0e+00
     1048576        131072   float    48.38   10.84   10.84  0e+00    47.84   10.96   10.96  0e+00
)",
                                   "log");
  ASSERT_EQ(file.tables.size(), 1u);
  ASSERT_EQ(file.tables[0].rows.size(), 2u);
  EXPECT_EQ(file.contradictory, 0);
  EXPECT_DOUBLE_EQ(file.tables[0].rows[1].out_of_place->algbw_gbs, 2 * 10.84);
  EXPECT_DOUBLE_EQ(file.tables[0].rows[1].out_of_place->busbw_gbs, 10.84);
}

TEST(PerfTable, RowsOfAQuotationAreRead) {
  std::string quoted;
  for (std::string_view rest = kOld; !rest.empty();) {
    const std::size_t end = rest.find('\n') + 1;
    quoted += "> " + std::string(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  EXPECT_EQ(parse_perf(quoted, "log").tables.at(0).rows.size(), 3u);
}

}  // namespace
}  // namespace tw::nccl
