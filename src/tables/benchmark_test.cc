// SPDX-License-Identifier: Apache-2.0
#include "trainwire/tables/benchmark.h"

#include "trainwire/base/error.h"
#include "trainwire/tables/compared.h"

#include <gmock/gmock.h>

namespace tw::tables {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kOsu =
    "\n# OSU MPI Allreduce Latency Test v7.5\n# Datatype: MPI_INT.\n"
    "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
    "4                       2.50              2.10              2.90         1000\n"
    "1048576               350.00            340.00            360.00          100\n";

TEST(Benchmark, ReadsOsu) {
  const Benchmark found = parse_benchmark(kOsu, "osu.txt");
  EXPECT_EQ(found.program, "osu");
  ASSERT_THAT(found.curves, SizeIs(1));
  EXPECT_EQ(found.curves[0].op, "all_reduce");
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{4, 1e-6 * 2.5}, Row{1048576, 1e-6 * 350}));
  // 1 MB at 1,000 MB/s takes a millisecond.
  const Benchmark rate = parse_benchmark(
      "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n1000000   1000.00\n", "x");
  EXPECT_EQ(rate.curves[0].op, "send");
  EXPECT_DOUBLE_EQ(rate.curves[0].rows[0].time_s, 1e-3);
  const Benchmark gather = parse_benchmark(
      "# OSU MPI Allgather Latency Test v7.5\n# Size  Avg Latency(us)\n8  5.0\n", "x");
  EXPECT_THAT(gather.limits, ElementsAre(HasSubstr("how many ranks")));
  EXPECT_EQ(parse_benchmark("# OSU MPI All-to-All Personalized Exchange Latency Test v5.6\n# Size  "
                            "Avg Latency(us)\n8  5.0\n",
                            "x")
                .curves[0]
                .op,
            "all_to_all");
}

constexpr std::string_view kImb =
    "#---------------\n# Benchmarking PingPong \n# #processes = 2 \n#---------------\n"
    "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
    "            0         1000         0.50         0.00\n"
    "         1024         1000         1.00      1024.00\n\n"
    "#---------------\n# Benchmarking Allgather \n# #processes = 4 \n"
    "# ( 4 additional processes waiting in MPI_Barrier)\n#---------------\n"
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "         1024         1000         9.00        11.00        10.00\n";

TEST(Benchmark, ReadsEveryBlockOfImb) {
  const Benchmark found = parse_benchmark(kImb, "imb.txt");
  EXPECT_EQ(found.program, "imb");
  ASSERT_THAT(found.curves, SizeIs(2));
  EXPECT_EQ(found.curves[0].op, "send");
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{1024, 1e-6}));
  EXPECT_EQ(found.skipped, 1U);  // of size 0
  EXPECT_EQ(found.curves[1].op, "all_gather");
  EXPECT_EQ(found.curves[1].ranks, 4);
  EXPECT_EQ(found.curves[1].rows[0].bytes, 4096);  // four ranks give 1024 each
  EXPECT_DOUBLE_EQ(found.curves[1].rows[0].time_s, 10e-6);
}

// Tables that went through a spreadsheet have tabs between words, and its row numbers behind them.
TEST(Benchmark, ReadsImbOfASpreadsheet) {
  const Benchmark found = parse_benchmark(
      "#\tBenchmarking\tAllgather\t\t1\n#\t#processes\t=\t4\t\t2\n"
      "#bytes\t#repetitions\tt_min[usec]\tt_max[usec]\tt_avg[usec]\t\t3\n"
      "1024\t1000\t9.00\t11.00\t10.00\t\t4\n",
      "imb.txt");
  EXPECT_EQ(found.program, "imb");
  ASSERT_THAT(found.curves, SizeIs(1));
  EXPECT_EQ(found.curves[0].ranks, 4);
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{4096, 1e-6 * 10}));
}

TEST(Benchmark, ReadsImbWithoutItsTitles) {
  const Benchmark found = parse_benchmark(
      "Sendrecv:\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n~~~~~~~~\n"
      "1024 160 30.48 33.48 32.00 15660.37\n\nExchange:\n"
      "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n"
      "1024 160 82.66 92.93 87.85 11283.53\n\nAlltoall\n"
      "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n2048 80 9.00 11.00 10.00\n",
      "imb.txt");
  EXPECT_EQ(found.program, "imb");
  ASSERT_THAT(found.curves, SizeIs(2));
  EXPECT_EQ(found.curves[0].op, "send");
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{1024, 1e-6 * 32}));
  EXPECT_EQ(found.curves[1].op, "all_to_all");
  EXPECT_THAT(found.curves[1].rows, ElementsAre(Row{2048, 1e-6 * 10}));
  EXPECT_THAT(found.limits, Contains(HasSubstr("how many ranks")));
  EXPECT_THAT(found.limits, Contains(HasSubstr("Exchange")));
}

// As archives of mails have them.
TEST(Benchmark, ReadsTablesOfPages) {
  const Benchmark found = parse_benchmark(
      "<p># Benchmarking Allreduce\n<br>\n# #processes = 8\n<br>\n"
      "&nbsp;&nbsp;&nbsp;#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n<br>\n"
      "<span class=\"quotelev1\">&nbsp;&nbsp;1024&nbsp; 1000   9.00  11.00  10.00\n</span><br>\n",
      "mail.html");
  ASSERT_THAT(found.curves, SizeIs(1));
  EXPECT_EQ(found.curves[0].ranks, 8);
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{1024, 1e-6 * 10}));
}

TEST(Benchmark, ReadsIntervalsOfIperfAlone) {
  const Benchmark found = parse_benchmark(
      "Client on 10.0.0.7:  [  4]   0.00-1.00   sec   119 MBytes  1.00 Gbits/sec  \n"
      "Client on 10.0.0.7:  [  4]   1.00-2.00   sec   119 MBytes  1.00 Gbits/sec   \n",
      "iperf.txt");
  EXPECT_EQ(found.program, "iperf3");
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("of Client on 10.0.0.7 over 2 intervals")));
}

// iperf3 -T: several tests write to one terminal.
TEST(Benchmark, TellsTestsOfIperfByTheirTitles) {
  const Benchmark found = parse_benchmark(
      "a:  [ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n"
      "a:  [  4]   0.00-1.00   sec   119 MBytes  1.00 Gbits/sec    0    446 KBytes\n"
      "b:  [  4]   0.00-1.00   sec   238 MBytes  2.00 Gbits/sec    3    446 KBytes\n"
      "a:  [  4]   1.00-2.00   sec   119 MBytes  1.00 Gbits/sec    0    446 KBytes\n"
      "b:  [  4]   1.00-2.00   sec   238 MBytes  2.00 Gbits/sec    4    446 KBytes\n",
      "iperf.txt");
  EXPECT_EQ(found.rows(), 4U);
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("1 Gbit/s of a over 2 intervals; 0 segments"),
                                       HasSubstr("2 Gbit/s of b over 2 intervals; 7 segments")));
}

TEST(Benchmark, ReadsBothTablesOfGloo) {
  const Benchmark found = parse_benchmark(
      "Device:      tcp, pci=, iface=eth0, speed=-1, addr=[10.0.0.1]\n"
      "Algorithm:   allreduce_ring_chunked\nOptions:     processes=4, inputs=1, threads=1\n\n"
      "   size (B)   elements   min (us)   p50 (us)   p99 (us)   max (us)   bandwidth (GB/s)   "
      "iterations\n"
      "      4000       1000        90        100        200        300              0.037        "
      "1000\n",
      "x");
  EXPECT_EQ(found.curves[0].op, "all_reduce");
  EXPECT_EQ(found.curves[0].ranks, 4);
  EXPECT_EQ(found.curves[0].rows[0].bytes, 4000);
  EXPECT_DOUBLE_EQ(found.curves[0].rows[0].time_s, 100e-6);
  const Benchmark old = parse_benchmark(
      "Algorithm:   broadcast_one_to_all\nOptions:     processes=2, inputs=1\n"
      "   elements   min (us)   p50 (us)   p99 (us)   max (us)   avg (GB/s)    samples\n"
      "       1000         90        110        200        300       0.037      1000\n",
      "x");
  EXPECT_EQ(old.curves[0].op, "broadcast");
  EXPECT_EQ(old.curves[0].rows[0].bytes, 4000);
  EXPECT_DOUBLE_EQ(old.curves[0].rows[0].time_s, 110e-6);
}

// As iperf 3.12 prints it with -P 2.
constexpr std::string_view kIperf =
    "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    "[  5]   0.00-1.00   sec   794 MBytes  6.65 Gbits/sec   25   1023 KBytes       \n"
    "[  7]   0.00-1.00   sec   771 MBytes  6.46 Gbits/sec   44    895 KBytes       \n"
    "[SUM]   0.00-1.00   sec  1.53 GBytes  13.1 Gbits/sec   69             \n"
    "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
    "[SUM]   1.00-2.00   sec  1.43 GBytes  12.3 Gbits/sec   28             \n"
    "[SUM]   0.00-2.00   sec  2.96 GBytes  12.7 Gbits/sec   97             sender\n"
    "[SUM]   0.00-2.00   sec  2.96 GBytes  12.7 Gbits/sec                  receiver\n";

TEST(Benchmark, ReadsIntervalsOfIperf) {
  const Benchmark found = parse_benchmark(kIperf, "x");
  EXPECT_EQ(found.program, "iperf3");
  // 13.1 Gbit in a second are 1,637.5 MB.
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{1'637'500'000, 1}, Row{1'537'500'000, 1}));
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("12.7 Gbit/s over 2 intervals; 97 segments")));
  const Benchmark json = parse_benchmark(
      R"({"start": {"version": "iperf 3.12"}, "intervals": [
        {"sum": {"start": 0, "end": 0.5, "seconds": 0.5, "bytes": 5, "bits_per_second": 8e9, "omitted": true}},
        {"sum": {"start": 0, "end": 0.5, "seconds": 0.5, "bytes": 500000000, "bits_per_second": 8e9, "omitted": false}}],
        "end": {"sum_sent": {"retransmits": 3}, "sum_received": {"bits_per_second": 7.9e9}}})",
      "x");
  EXPECT_THAT(json.curves[0].rows, ElementsAre(Row{500'000'000, 0.5}));
  EXPECT_THAT(json.notes, ElementsAre(HasSubstr("7.9 Gbit/s over 1 interval; 3 segments")));
}

TEST(Benchmark, RowsOfNcclTestsNeedNoHeader) {
  EXPECT_EQ(
      program_of("  1073741824 268435456 float sum -1 22661 47.38 47.38 0 22658 47.39 47.39 0\n"),
      "nccl_tests");
  EXPECT_EQ(program_of("a float is no row\n"), "");
}

TEST(Benchmark, LastValuesThatAreCutOffAreNoTimes) {
  const Benchmark osu = parse_benchmark(
      "# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n"
      "8192                   14.79\n16384                  1\n",
      "x");
  ASSERT_EQ(osu.rows(), 1U);
  EXPECT_EQ(osu.curves[0].rows[0].bytes, 8192);
  EXPECT_EQ(osu.skipped, 1U);
  const Benchmark imb = parse_benchmark(
      "# Benchmarking Bcast\n# #processes = 2\n"
      "  #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "     8    1000    0.90    41.66    22.70\n    16    1000    0.91    41.66    2\n",
      "x");
  ASSERT_EQ(imb.rows(), 1U);
  EXPECT_EQ(imb.curves[0].rows[0].bytes, 8);
}

TEST(Benchmark, ReadsImbWithoutItsSigns) {
  const Benchmark found = parse_benchmark(
      "   Benchmarking Bcast \n"
      "          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
      "               8         1000         0.90        41.66        22.70\n",
      "x");
  EXPECT_EQ(found.program, "imb");
  EXPECT_EQ(found.curves[0].op, "broadcast");
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{8, 22.7e-6}));
}

// As mpirun's --tag-output --timestamp-output and a page without its '#' show it.
TEST(Benchmark, ReadsOsuAsPeopleShowIt) {
  const std::string tag = "Sun Jan 28 03:16:43 2018[1,0]<stdout>:";
  const Benchmark tagged =
      parse_benchmark(tag + "# OSU MPI Bandwidth Test v5.3.2\n" + tag +
                          "# Size      Bandwidth (MB/s)\n" + tag + "32                    160.00\n",
                      "x");
  EXPECT_THAT(tagged.curves[0].rows, ElementsAre(Row{32, 0.2e-6}));
  const Benchmark bare = parse_benchmark(
      "osu_latency\n\nOSU MPI Latency Test v5.0\nSize          Latency (us)\n8     1.5\n", "x");
  EXPECT_THAT(bare.curves[0].rows, ElementsAre(Row{8, 1.5e-6}));
  const Benchmark indented = parse_benchmark(
      "    # OSU MPI-CUDA Bandwidth Test v7.5\n    # Size      Bandwidth (MB/s)        Validation\n"
      "    32                    160.00              Pass\n",
      "x");
  EXPECT_THAT(indented.curves[0].rows, ElementsAre(Row{32, 0.2e-6}));
  const Benchmark joined = parse_benchmark(
      "# OSU MPI Bandwidth Test (Version 2.0)\n# Size Bandwidth (MB/s)\n32 160.000000\n", "x");
  EXPECT_THAT(joined.curves[0].rows, ElementsAre(Row{32, 0.2e-6}));
}

// Where several programs write to one terminal, the end of the header's line comes too late.
TEST(Benchmark, ReadsTheRowOfOsuThatIsGluedToItsHeader) {
  const std::string tag = "Tue Mar  6 10:11:12 2019[1,0]<stdout>:";
  for (const std::string& glue : {std::string(), tag, tag + "  ", std::string("0: ")}) {
    const Benchmark found = parse_benchmark(
        tag + "# OSU MPI Allreduce Latency Test v5.6\n" + tag + "# Size       Avg Latency(us)" +
            glue + "4             2.50\n" + tag + "8             2.60\n",
        "x");
    ASSERT_EQ(found.rows(), 2U) << glue;
    EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{4, 1e-6 * 2.5}, Row{8, 1e-6 * 2.6})) << glue;
    EXPECT_EQ(found.skipped, 0U);
  }
  const Benchmark computed = parse_benchmark(
      "# OSU MPI Non-blocking Bcast Latency Test v5.6\n"
      "# Size      Overall(us)    Compute(us)    Pure Comm.(us)    Overlap(%)"
      "Tue Mar  6 10:11:12 2019 4     9.50     4.10     5.20     0.00\n",
      "x");
  ASSERT_EQ(computed.rows(), 1U);
  EXPECT_THAT(computed.curves[0].rows, ElementsAre(Row{4, 1e-6 * 5.2}));
  const Benchmark cut =
      parse_benchmark("# OSU MPI Latency Test v5.6\n# Size      Latency (us)4\n8     2.60\n", "x");
  EXPECT_EQ(cut.rows(), 1U);
  EXPECT_EQ(cut.skipped, 1U);
}

TEST(Benchmark, CountsRowsOfOsuThatTellNothing) {
  const std::string good(kOsu);
  const Benchmark whole = parse_benchmark(good, "x");
  for (const std::string row : {"1048576", "1048576   nan", "-8   1.5", "8   -1.5", "8 1.5x"}) {
    const Benchmark found = parse_benchmark(good + row + "\n", "x");
    EXPECT_EQ(found.rows(), whole.rows()) << row;
    EXPECT_EQ(found.skipped, whole.skipped + 1) << row;
  }
}

// As iperf 3.12 prints it with -u.
TEST(Benchmark, DatagramsOfIperfAreNotSentAgain) {
  const Benchmark found = parse_benchmark(
      "[ ID] Interval           Transfer     Bitrate         Total Datagrams\n"
      "[  5]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec  91  \n"
      "[  5]   1.00-2.00   sec   127 KBytes  1.04 Mbits/sec  90  \n"
      "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
      "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
      "[  5]   0.00-2.00   sec   256 KBytes  1.05 Mbits/sec  0.000 ms  0/181 (0%)  sender\n"
      "[  5]   0.00-2.00   sec   252 KBytes  1.03 Mbits/sec  0.013 ms  3/181 (1.7%)  receiver\n",
      "x");
  EXPECT_EQ(found.rows(), 2U);
  EXPECT_THAT(found.notes, ElementsAre("iperf3 moved 1.03 Mbit/s over 2 intervals; 3 of 181 "
                                       "datagrams were lost"));
}

// As iperf 3.9 prints it with -R: only the sender's last line counts segments.
TEST(Benchmark, WhatTheFarSideSentAgainIsInItsLastLine) {
  const Benchmark found = parse_benchmark(
      "[ ID] Interval           Transfer     Bitrate\n"
      "[  5]   0.00-1.00   sec  1.10 GBytes  9.42 Gbits/sec\n"
      "[  5]   1.00-2.00   sec  1.10 GBytes  9.42 Gbits/sec\n"
      "[ ID] Interval           Transfer     Bitrate         Retr\n"
      "[  5]   0.00-2.00   sec  2.20 GBytes  9.43 Gbits/sec   12             sender\n"
      "[  5]   0.00-2.00   sec  2.20 GBytes  9.42 Gbits/sec                  receiver\n",
      "x");
  EXPECT_EQ(found.rows(), 2U);
  EXPECT_THAT(found.notes, ElementsAre("iperf3 moved 9.42 Gbit/s over 2 intervals; 12 segments "
                                       "were sent again"));
}

// People show what stands at the end alone, of UDP before 3.2 without whose it is.
TEST(Benchmark, TheEndOfIperfIsEnough) {
  const Benchmark tcp = parse_benchmark(
      "[ ID] Interval           Transfer     Bitrate         Retr\n"
      "[  5]   0.00-30.00  sec  45.8 GBytes  13.2 Gbits/sec  4369             sender\n"
      "[  5]   0.00-30.00sec  45.8 GBytes  13.1 Gbits/sec                  receiver\n",
      "x");
  // 13.1 Gbit/s for 30 s.
  EXPECT_THAT(tcp.curves[0].rows, ElementsAre(Row{49'125'000'000, 30}));
  EXPECT_THAT(tcp.notes, ElementsAre("iperf3 moved 13.1 Gbit/s over 30 s; 4369 segments were sent "
                                     "again"));
  const Benchmark udp = parse_benchmark(
      "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
      "[ 20]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  16  \n"
      "[ 20]   0.00-1.00   sec   128 KBytes  1.04 Mbits/sec  0.082 ms  2/16 (12%)  \n",
      "x");
  EXPECT_THAT(udp.notes, ElementsAre("iperf3 moved 1.04 Mbit/s over 1 interval; 2 of 16 datagrams "
                                     "were lost"));
}

// Of UDP each interval tells what was lost in it; the table behind is another run's.
TEST(Benchmark, RunsOfIperfThatWereCutOffAreRead) {
  const Benchmark found = parse_benchmark(
      "Connecting to host 192.168.1.2, port 5201\n"
      "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
      "[ 19]   0.00-1.00   sec  24.4 MBytes   205 Mbits/sec  0.076 ms  80/100 (80%)\n"
      "[ 19]   1.00-2.00   sec  24.4 MBytes   215 Mbits/sec  0.059 ms  70/100 (70%)\n"
      "Connecting to host 192.168.1.2, port 5201\n"
      "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
      "[  5]   0.00-1.00   sec  1.63 MBytes  13.7 Mbits/sec   30   1.41 KBytes\n",
      "x");
  ASSERT_EQ(found.curves.size(), 2U);
  EXPECT_EQ(found.curves[1].rows.size(), 1U);
  EXPECT_THAT(
      found.notes,
      ElementsAre("iperf3 moved 210 Mbit/s over 2 intervals; 150 of 200 datagrams were lost",
                  "iperf3 moved 13.7 Mbit/s over 1 interval; 30 segments were sent again"));
}

// One of several streams, the next of one.
TEST(Benchmark, EndsOfSeveralRunsOfIperfNeedNoHeader) {
  const Benchmark found = parse_benchmark(
      "$ iperf3 -c 172.16.80.200 -P 12 -t 10\n"
      "[SUM]   0.00-10.00  sec  27.3 GBytes  23.4 Gbits/sec   25             sender\n"
      "$ iperf3 -c 172.16.80.200 -P 1 -t 5\n"
      "[  5]   0.00-5.00   sec  4.06 GBytes  6.96 Gbits/sec    0            sender\n",
      "x");
  EXPECT_THAT(found.notes,
              ElementsAre("iperf3 moved 23.4 Gbit/s over 10 s; 25 segments were sent again",
                          "iperf3 moved 6.96 Gbit/s over 5 s; 0 segments were sent again"));
}

TEST(Benchmark, SumsOfSeveralRunsAreNotOne) {
  const auto notes = [](const char* text) { return parse_benchmark(text, "x").notes; };
  // iperf 2 without intervals, filtered.
  EXPECT_THAT(
      notes("[SUM] 0.0000-10.0117 sec  1.10 GBytes   941 Mbits/sec\n"
            "[SUM] 0.0000-10.0093 sec  1.10 GBytes   940 Mbits/sec\n"
            "[SUM] 0.0000-10.0101 sec  2.20 GBytes  1.88 Gbits/sec\n"),
      ElementsAre(HasSubstr("941 Mbit/s"), HasSubstr("940 Mbit/s"), HasSubstr("1.88 Gbit/s")));
  // Intervals with their end, twice.
  EXPECT_THAT(notes("[SUM] 0.0-1.0 sec  112 MBytes   940 Mbits/sec\n"
                    "[SUM] 1.0-2.0 sec  112 MBytes   942 Mbits/sec\n"
                    "[SUM] 0.0-2.0 sec  224 MBytes   941 Mbits/sec\n"
                    "[SUM] 0.0-1.0 sec  224 MBytes  1.88 Gbits/sec\n"
                    "[SUM] 1.0-2.0 sec  224 MBytes  1.88 Gbits/sec\n"
                    "[SUM] 0.0-2.0 sec  448 MBytes  1.88 Gbits/sec\n"),
              ElementsAre(HasSubstr("941 Mbit/s over 2 intervals"),
                          HasSubstr("1.88 Gbit/s over 2 intervals")));
  EXPECT_THAT(
      notes("[SUM]   0.00-1.00   sec  1.53 GBytes  13.1 Gbits/sec   69             \n"
            "[SUM]   1.00-2.00   sec  1.43 GBytes  12.3 Gbits/sec   28             \n"
            "[SUM]   0.00-2.00   sec  2.96 GBytes  12.7 Gbits/sec   97             sender\n"
            "[SUM]   0.00-1.00   sec  1.53 GBytes  13.1 Gbits/sec    0             \n"
            "[SUM]   0.00-1.00   sec  1.53 GBytes  13.1 Gbits/sec    0             sender\n"),
      ElementsAre(HasSubstr("12.7 Gbit/s over 2 intervals"),
                  HasSubstr("13.1 Gbit/s over 1 interval")));
  // iperf3's ends.
  EXPECT_THAT(
      notes("[SUM]   0.00-10.00  sec  27.3 GBytes  23.4 Gbits/sec   25             sender\n"
            "[SUM]   0.00-10.04  sec  27.3 GBytes  23.3 Gbits/sec                  receiver\n"
            "[SUM]   0.00-10.00  sec  13.6 GBytes  11.7 Gbits/sec    3             sender\n"
            "[SUM]   0.00-10.04  sec  13.6 GBytes  11.6 Gbits/sec                  receiver\n"),
      ElementsAre(HasSubstr("23.3 Gbit/s over 10.04 s; 25"),
                  HasSubstr("11.6 Gbit/s over 10.04 s; 3")));
}

TEST(Benchmark, LinesOfIperf2AreNotCalledThoseOfIperf3) {
  const Benchmark found = parse_benchmark(
      "$ iperf -c 10.1.1.2 -P 16 -t 30\n"
      "[SUM]  0.0-30.0 sec    337 GBytes  96.4 Gbits/sec\n"
      "$ iperf3 -c 10.1.1.2 -P 16 -t 30\n"
      "[SUM]   0.00-30.00  sec   123 GBytes  35.2 Gbits/sec    0             sender\n",
      "x");
  EXPECT_THAT(found.notes,
              ElementsAre("iperf 2 moved 96.4 Gbit/s over 1 interval",
                          "iperf3 moved 35.2 Gbit/s over 30 s; 0 segments were sent again"));
}

// As iperf 3.17 writes it with --json-stream.
TEST(Benchmark, EventsOfIperfAreRead) {
  const Benchmark found = parse_benchmark(
      "{\"event\":\"start\",\"data\":{\"version\":\"iperf 3.17.1\"}}\n"
      "{\"event\":\"interval\",\"data\":{\"sum\":{\"start\":0,\"end\":1,\"bits_per_second\":8e9,"
      "\"omitted\":false}}}\n"
      "{\"event\":\"end\",\"data\":{\"sum_sent\":{\"retransmits\":5},\"sum_received\":{\"bits_per_"
      "second\":"
      "7.9e9}}}\n",
      "x");
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{1'000'000'000, 1}));
  EXPECT_THAT(found.notes, ElementsAre(HasSubstr("7.9 Gbit/s over 1 interval; 5 segments")));
}

// As iperf 3.12 prints it with --bidir.
TEST(Benchmark, BothDirectionsOfIperfAreRead) {
  const Benchmark found = parse_benchmark(
      "[ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd\n"
      "[  5][TX-C]   0.00-1.00   sec   550 MBytes  4.61 Gbits/sec    3   1.50 MBytes\n"
      "[  7][RX-C]   0.00-1.00   sec   540 MBytes  4.53 Gbits/sec\n"
      "[ ID][Role] Interval           Transfer     Bitrate         Retr\n"
      "[  5][TX-C]   0.00-1.00   sec   550 MBytes  4.61 Gbits/sec    3             sender\n"
      "[  5][TX-C]   0.00-1.00   sec   549 MBytes  4.60 Gbits/sec                  receiver\n"
      "[  7][RX-C]   0.00-1.00   sec   541 MBytes  4.54 Gbits/sec    7             sender\n"
      "[  7][RX-C]   0.00-1.00   sec   540 MBytes  4.53 Gbits/sec                  receiver\n",
      "x");
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{576'250'000, 1}, Row{566'250'000, 1}));
  EXPECT_THAT(found.notes,
              ElementsAre(HasSubstr("4.53 Gbit/s the other way over 1 interval; 7 segments"),
                          HasSubstr("4.6 Gbit/s one way over 1 interval; 3 segments")));
}

// Titles and columns as of OSU 5.8 and 7.4.
TEST(Benchmark, RatesOfOsuAreOfAllPairsAndBothDirections) {
  // 4,000 MB/s of four pairs: 1 MB of one takes a millisecond.
  const Benchmark pairs = parse_benchmark(
      "# OSU MPI Multiple Bandwidth / Message Rate Test v5.8\n"
      "# [ pairs: 4 ] [ window size: 64 ]\n"
      "# Size                  MB/s        Messages/s\n"
      "1000000              4000.00           4000.00\n",
      "x");
  EXPECT_THAT(pairs.curves[0].rows, ElementsAre(Row{1'000'000, 1e-3}));
  const Benchmark both = parse_benchmark(
      "# OSU MPI Bi-Directional Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n"
      "1000000              2000.00\n",
      "x");
  EXPECT_EQ(both.curves[0].op, "sendrecv");
  EXPECT_THAT(both.curves[0].rows, ElementsAre(Row{1'000'000, 1e-3}));
}

TEST(Benchmark, OfCollectivesBehindComputingTheTimeAloneCounts) {
  const Benchmark found = parse_benchmark(
      "# OSU MPI Non-blocking Allreduce Latency Test v7.4\n"
      "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
      "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n"
      "4                       5.10              2.00              2.50              3.85\n",
      "x");
  EXPECT_THAT(found.curves[0].rows, ElementsAre(Row{4, 1e-6 * 2.5}));
  const Benchmark imb = parse_benchmark(
      "# Benchmarking Iallreduce\n# #processes = 4\n"
      "       #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]      "
      "defects\n"
      "      1048576           40       600.00       300.00       305.00         5.00         "
      "0.00\n",
      "x");
  EXPECT_EQ(imb.curves[0].op, "all_reduce");
  EXPECT_THAT(imb.curves[0].rows, ElementsAre(Row{1'048'576, 1e-6 * 300}));
}

TEST(Benchmark, SaysWhichRowsOfOsuFailed) {
  const Benchmark found = parse_benchmark(
      "# OSU MPI Allreduce Latency Test v7.2\n"
      "# Size       Avg Latency(us)        Validation\n"
      "4                       1.50              Pass\n"
      "1024                    2.50              Fail\n",
      "x");
  EXPECT_EQ(found.rows(), 2U);
  EXPECT_THAT(found.limits, ElementsAre("1 rows failed OSU's own validation"));
}

// As IMB 2019 prints them, and as Open MPI's copy of 2009 does.
TEST(Benchmark, BlocksOfImbThatTellNoTimeByASizeAreNamed) {
  const Benchmark found =
      parse_benchmark(std::string(kImb) +
                          "# Benchmarking Barrier \n# #processes = 4 \n"
                          " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
                          "         1000         1.32         1.34         1.33\n\n"
                          "# Benchmarking Uniband \n# #processes = 2 \n"
                          "       #bytes #repetitions   Mbytes/sec      Msg/sec\n"
                          "         1024         1000      1000.00       976562\n",
                      "x");
  EXPECT_EQ(found.rows(), 2U);
  EXPECT_EQ(found.skipped, 3U);  // and one of size 0
  EXPECT_THAT(found.limits, ElementsAre(HasSubstr("Barrier"), HasSubstr("Uniband")));
  const Benchmark old = parse_benchmark(
      "# Benchmarking Allreduce\n# #processes = 96\n"
      "#Benchmarking        #procs       #bytes #repetitions  t_min[usec]  t_max[usec]  "
      "t_avg[usec]\n"
      "Allreduce       96                  4         1000       297.88       298.07       297.95\n",
      "x");
  EXPECT_EQ(old.curves[0].ranks, 96);
  EXPECT_THAT(old.curves[0].rows, ElementsAre(Row{4, 1e-6 * 297.95}));
}

TEST(Benchmark, SaysWhatIperfSaysWentWrong) {
  for (
      const std::string text :
      {R"({"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}, "error": "unable to connect to server"})",
       "iperf3: error - unable to connect to server\n"}) {
    try {
      parse_benchmark(text, "x");
      ADD_FAILURE() << text;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("iperf3 measured nothing: unable to connect to server"));
    }
  }
  EXPECT_THAT(
      [] { parse_benchmark("{\"start\": {\"version\": \"iperf 3.12\"}, \"intervals\": [", "x"); },
      testing::ThrowsMessage<DataError>(HasSubstr("several or a part of one")));
  const Benchmark found =
      parse_benchmark(std::string(kIperf) + "iperf3: error - control socket has closed\n", "x");
  EXPECT_EQ(found.rows(), 2U);
  EXPECT_THAT(found.limits, Contains(HasSubstr("with an error: control socket has closed")));
}

TEST(Benchmark, TwoAreComparedSizeBySize) {
  const Benchmark before{.program = "osu", .curves = {{"all_reduce", 4, {{8, 1e-6}, {16, 2e-6}}}}};
  Benchmark after{.program = "osu",
                  .curves = {{"all_reduce", 0, {{8, 1e-6}, {16, 3e-6}, {32, 1}}}}};
  const CurvesCompared found = compare_curves(before, after, "b");
  ASSERT_THAT(found.rows, SizeIs(2));
  EXPECT_DOUBLE_EQ(found.rows[1].relative(), 0.5);
  EXPECT_EQ(found.slower, 1U);
  EXPECT_EQ(found.only_one, 1U);
  EXPECT_THAT(curves_text("a", {found}), HasSubstr("+50.0 %"));
  after.curves[0].ranks = 8;
  EXPECT_THROW(compare_curves(before, after, "b"), DataError);
}

TEST(Benchmark, WithoutRowsIsAnError) {
  EXPECT_THROW(parse_benchmark("# OSU MPI Allreduce Latency Test v7.5\n", "x"), DataError);
  EXPECT_THROW(parse_benchmark("hello\n", "x"), DataError);
  EXPECT_EQ(program_of("hello 1 2\n"), "");
}

TEST(Benchmark, CutAnywhereHasTheSameFirstRowsOrNone) {
  for (const std::string_view text : {kOsu, kImb, kIperf}) {
    const std::size_t all = parse_benchmark(text, "x").rows();
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
      try {
        EXPECT_LE(parse_benchmark(text.substr(0, cut), "x").rows(), all);
      } catch (const DataError& error) {
        EXPECT_THAT(error.what(), HasSubstr("table")) << cut;
      }
    }
  }
}

TEST(Benchmark, RowsBehindLaunchersPrefixesAreRead) {
  for (const std::string prefix : {"[1,0]<stdout>:", "0: "}) {
    const Benchmark found =
        parse_benchmark(prefix + "# OSU MPI Allreduce Latency Test v5.9\n" + prefix +
                            "# Size       Avg Latency(us)\n" + prefix + "1024      9.31\n",
                        "x");
    ASSERT_EQ(found.rows(), 1U) << prefix;
  }
}

// 1 and 2 MB/s, and 1 MB/s of which half of the time passes without any: intervals are of no common size.
TEST(CompareCurves, TakesWhatAMegabyteTakesOfIperf) {
  const Benchmark slow =
      parse_benchmark("[  5]   0.00-1.00   sec   976 KBytes  8.00 Mbits/sec\n", "slow");
  const Benchmark fast =
      parse_benchmark("[  5]   0.00-2.00   sec  3.81 MBytes  16.0 Mbits/sec\n", "fast");
  const CurvesCompared found = compare_curves(slow, fast, "fast");
  ASSERT_THAT(found.rows, SizeIs(1));
  EXPECT_DOUBLE_EQ(found.rows[0].baseline_s, 1);
  EXPECT_DOUBLE_EQ(found.rows[0].other_s, 0.5);
  const Benchmark idle = parse_benchmark(
      "[  5]   0.00-1.00   sec   976 KBytes  8.00 Mbits/sec\n"
      "[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec\n",
      "idle");
  EXPECT_DOUBLE_EQ(compare_curves(slow, idle, "idle").rows[0].other_s, 2);
}

}  // namespace
}  // namespace tw::tables
