// SPDX-License-Identifier: Apache-2.0
// Any bytes are tables of nccl-tests or a DataError; rows have a time, and whatever they say, they
// can be laid beside what was expected.

#include "trainwire/base/error.h"
#include "trainwire/nccl/against.h"
#include "trainwire/nccl/perf_table.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace tw;

void check_rows(const nccl::PerfFile& file) {
  check(!file.tables.empty(), "a file without tables is refused");
  for (const nccl::PerfTable& table : file.tables) {
    check(!table.rows.empty(), "a table has rows");
    for (const nccl::PerfRow& row : table.rows) {
      check(row.bytes >= 0 && row.count >= 0 && row.wrong >= 0, "counts are not negative");
      check(row.out_of_place || row.in_place, "a row has a time");
      check(std::isfinite(row.timed().time_us) && row.timed().time_us > 0, "times are positive");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nccl::PerfFile file;
  try {
    file = nccl::parse_perf(text, "fuzz");
  } catch (const DataError&) {
    return 0;
  }
  check_rows(file);
  const nccl::Cluster cluster{.ranks = 16,
                              .per_host = 8,
                              .nics = {2, BitRate(200e9)},
                              .gpu = *nccl::find_gpu("a100"),
                              .stream = BitRate(20e9)};
  try {
    const nccl::Comparison found = nccl::compare(cluster, nccl::Operation::AllReduce, file);
    check(!found.rows.empty() && !found.sentence.empty(), "what is compared has a sentence");
  } catch (const DataError&) {
  }
  return 0;
}
