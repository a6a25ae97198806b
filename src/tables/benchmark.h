// SPDX-License-Identifier: Apache-2.0
// What benchmarks of networks and collectives print: times by size, one row a size.
//
// OSU micro-benchmarks (latency, bandwidth and collectives, with and without -f), Intel's MPI benchmarks (several blocks a
// file), Gloo's benchmark (both shapes of its table), iperf3 (text and -J; a row is an interval, of all streams together),
// nccl-tests (nccl/perf_table.h), oneCCL's benchmark, ml-engineering's all_reduce_bench.py, hccl_test, DeepSpeed's benchmarks
// of communication (bandwidth_tables.cc).
//
// `bytes` is the size of nccl-tests (operations/operation.h): MPI's benchmarks count what a rank gives to all-gather,
// gather and scatter, and to each other in all-to-all, which is multiplied by the ranks. OSU does not say how many ranks
// there were: of these operations its sizes stay as they are, and a note says so.
//
// Limits: of rows with several times the mean is taken (Gloo: the median); rows of size 0 are left out; units as the
// programs mean them: OSU's and IMB's MB/s are 10^6 bytes, Gloo's GB/s is not used, for it means 2^30.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw::tables {

struct Row {
  std::int64_t bytes;
  double time_s;
  bool operator==(const Row&) const = default;
};

/// One operation at growing sizes.
struct Curve {
  std::string op;
  int ranks = 0;  ///< 0 where it is not told
  std::vector<Row> rows = {};
};

struct Benchmark {
  std::string
      program;  ///< "osu", "imb", "oneccl", "gloo_benchmark", "iperf3", "nccl_tests", "all_reduce_bench", "hccl_test", "nccom_test", "ucc_perftest", "deepspeed_bench"
  std::vector<Curve> curves = {};
  std::uint64_t skipped = 0;             ///< rows that tell no time of a size
  std::vector<std::string> notes = {};   ///< sentences about what was measured
  std::vector<std::string> limits = {};  ///< what the figures do not say
  std::string error = {};                ///< what the program itself says went wrong
  double idle_s = 0;                     ///< of iperf3's intervals in which nothing was carried
  std::size_t rows() const;
};

/// The program that printed it, or "" for a text that is no benchmark's.
std::string_view program_of(std::string_view text);

/// Throws DataError naming `name` and what was expected when there is no row.
Benchmark parse_benchmark(std::string_view text, std::string_view name);

}  // namespace tw::tables
