// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/tables/benchmark.h"

#include <gmock/gmock.h>

namespace tw::tables {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::SizeIs;

TEST(BandwidthTables, ReadsAllReduceBench) {
  const Benchmark found = parse_benchmark(
      "The average bandwidth of all_reduce over 32 ranks (5 warmups / 20 trials):\n\n"
      "| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n"
      "|   32KiB |   0.00GBps |   0.00GBps |\n"
      "|    1MiB |  12.47GBps |   6.44GBps |\n|     1GB |  90.94GBps |  46.94GBps |\n",
      "bench.txt");
  EXPECT_EQ(found.program, "all_reduce_bench");
  ASSERT_THAT(found.curves, SizeIs(1));
  EXPECT_EQ(found.curves[0].op, "all_reduce");
  EXPECT_EQ(found.curves[0].ranks, 32);
  ASSERT_THAT(found.curves[0].rows, SizeIs(2));
  EXPECT_EQ(found.curves[0].rows[0].bytes, 1 << 20);
  // 1,048,576 bytes at 6.44 GB/s.
  EXPECT_THAT(found.curves[0].rows[0].time_s, DoubleNear(162.8e-6, 1e-7));
  EXPECT_EQ(found.curves[0].rows[1].bytes, 1 << 30);
  EXPECT_EQ(found.skipped, 1U);
  EXPECT_THAT(found.limits, Contains(HasSubstr("two decimals")));
  EXPECT_EQ(parse_benchmark(
                "The average bandwidth of all_reduce over 2 nodes:\n| payload | busbw | algbw |\n"
                "| 1MiB | 12.47GBps | 6.44GBps |\n",
                "x")
                .curves[0]
                .ranks,
            0);
}

TEST(BandwidthTables, ReadsHcclTest) {
  const Benchmark found = parse_benchmark(
      "$ mpirun -n 16 ./bin/all_reduce_test -b 8K -e 64M -f 2 -p 8\n"
      "the minbytes is 8192, maxbytes is 67108864, iters is 20, warmup_iters is 5\n"
      "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n"
      "8192              | 77.48          | 0.10573              | success\n"
      "67108864          | 912.48         | 73.55                | failed\n",
      "x");
  EXPECT_EQ(found.program, "hccl_test");
  ASSERT_THAT(found.curves, SizeIs(1));
  EXPECT_EQ(found.curves[0].op, "all_reduce");
  ASSERT_THAT(found.curves[0].rows, SizeIs(2));
  EXPECT_THAT(found.curves[0].rows[1].time_s, DoubleNear(912.48e-6, 1e-12));
  EXPECT_THAT(found.limits, Contains(HasSubstr("1 rows failed")));
}

TEST(BandwidthTables, ReadsDeepSpeedsBenchmark) {
  const Benchmark found = parse_benchmark(
      "host0: ---- Performance of all_reduce on 8 devices -----------------\n"
      "host0: Size (Bytes)   Description    Duration      Throughput (Gbps)    BusBW (Gbps)\n"
      "host0: --------------------------------------------------------\n"
      "host0: 31.67 GB       8501054668x4   3176.620 ms   171.272              149.863\n"
      "host0: 4194304        1048576x4      172.352       48.671               36.504\n",
      "x");
  EXPECT_EQ(found.program, "deepspeed_bench");
  ASSERT_THAT(found.curves, SizeIs(1));
  EXPECT_EQ(found.curves[0].ranks, 8);
  ASSERT_THAT(found.curves[0].rows, SizeIs(2));
  EXPECT_EQ(found.curves[0].rows[0].bytes, 34'004'218'672);
  EXPECT_THAT(found.curves[0].rows[0].time_s, DoubleNear(3.17662, 1e-9));
  EXPECT_THAT(found.curves[0].rows[1].time_s, DoubleNear(172.352e-6, 1e-12));
}

TEST(BandwidthTables, ReadsOneCcl) {
  const Benchmark found = parse_benchmark(
      "#----------\n# Benchmarking: allreduce\n# #processes: 4\n#----------\n\n"
      "        #bytes  #repetitions   t_min[usec]   t_max[usec]   t_avg[usec]  stddev[%]\n"
      "             4            16         12.11         13.55         12.85       3.41\n"
      "       1048576            16        312.11        313.55        312.85       3.41\n",
      "x");
  EXPECT_EQ(found.program, "oneccl");
  ASSERT_THAT(found.curves, SizeIs(1));
  EXPECT_EQ(found.curves[0].ranks, 4);
  EXPECT_THAT(found.curves[0].rows[1].time_s, DoubleNear(312.85e-6, 1e-12));
}

TEST(BandwidthTables, CutAnywhereIsRowsOrAnError) {
  const std::string_view text =
      "The average bandwidth of all_reduce over 99999999999999999999 ranks:\n"
      "| payload | busbw | algbw |\n| 1e999KiB | 1GBps | 1GBps |\n| 99999999TiB | 1GBps | nanGBps "
      "|\n"
      "|||||\n| 1MiB |\n| 1MiB | 2GBps | 0.00001GBps |\n| . | . | . |\n| 1.5KiB | 1GBps | 1GBps "
      "|\n";
  for (std::size_t end = 0; end <= text.size(); ++end) {
    try {
      EXPECT_GT(parse_benchmark(text.substr(0, end), "cut").rows(), 0U);
    } catch (const DataError&) {
    }
  }
}

// AWS Neuron 2.2x; sizes are nccl-tests' sizes, and its GB are GiB.
TEST(BandwidthTables, ReadsNccomTest) {
  const Benchmark found = parse_benchmark(
      "nccom-test -r 32 --minbytes 1kb --datatype fp32 --check allg\n"
      "size(B)    count(elems)    type    time(us)    algbw(GB/s)    busbw(GB/s)\n"
      "  8192            2048    fp32         149           0.05           0.05\n"
      "524288          131072    fp32         179           2.73           2.64\n"
      "Avg bus bandwidth:      0.7731GB/s\n"
      "nccom-test -r 8 --custom-src-target-pairs pairs.json permute\n"
      "size(B)    count(elems)     type    time:avg(us)    algbw(GB/s)    busbw(GB/s)\n"
      "33554432        33554432    uint8          894.25          37.52          37.52\n"
      "67108864    Failure running neuron-bench - log file /tmp/x.log\n",
      "nccom.txt");
  EXPECT_EQ(found.program, "nccom_test");
  ASSERT_EQ(found.curves.size(), 2U);
  EXPECT_EQ(found.curves[0].op, "all_gather");
  EXPECT_EQ(found.curves[0].ranks, 32);
  EXPECT_EQ(found.curves[0].rows[1].bytes, 524288);
  EXPECT_DOUBLE_EQ(found.curves[0].rows[1].time_s, 179e-6);
  EXPECT_EQ(found.curves[1].op, "send");
  EXPECT_DOUBLE_EQ(found.curves[1].rows[0].time_s, 894.25e-6);
  EXPECT_EQ(found.skipped, 1U);
}

// UCC 1.3 with -F, which adds bandwidths.
TEST(BandwidthTables, ReadsUccPerftest) {
  const Benchmark found = parse_benchmark(
      "Collective:             Allreduce\nMemory type:            cuda\nDatatype:               "
      "float32\n  small                 10\n\n"
      "       Count        Size                Time, us                           Bandwidth, GB/s\n"
      "                                 avg         min         max         avg         min\n"
      "       65536      262144       76.50       72.62       82.30       24.00       25.27\n"
      "      131072      524288      121.75      118.44      125.04       30.13       30.99\n",
      "ucc.txt");
  EXPECT_EQ(found.program, "ucc_perftest");
  ASSERT_EQ(found.curves.size(), 1U);
  EXPECT_EQ(found.curves[0].op, "all_reduce");
  ASSERT_EQ(found.curves[0].rows.size(), 2U);
  EXPECT_EQ(found.curves[0].rows[0].bytes, 262144);
  EXPECT_DOUBLE_EQ(found.curves[0].rows[1].time_s, 1e-6 * 121.75);
}

}  // namespace
}  // namespace tw::tables
