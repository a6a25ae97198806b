// SPDX-License-Identifier: Apache-2.0
// Any bytes are a table of flow sizes or a DataError, and a load or a DataError. What is read keeps
// its promises: quantiles rise and stay within the table, flows are sorted, a load written and read
// again is the same.

#include "trainwire/base/error.h"
#include "trainwire/load/distribution.h"
#include "trainwire/load/load_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace {

using namespace tw;
using namespace tw::load;

void check_sizes(const SizeDistribution& sizes) {
  check(sizes.rows().size() >= 2 && sizes.rows().back().share == 1, "a table ends at 1");
  double before = 0;
  for (int i = 0; i <= 16; ++i) {
    const double size = sizes.quantile(i / 16.0);
    check(size >= before && size <= sizes.largest(), "quantiles rise to the largest size");
    before = size;
  }
  check(sizes.mean() >= 0 && sizes.mean() <= sizes.largest(), "the mean lies within the table");
}

void check_load(const Load& load) {
  for (std::size_t i = 1; i < load.flows.size(); ++i) {
    check(load.flows[i - 1].start <= load.flows[i].start, "flows are sorted by start");
  }
  for (const Flow& flow : load.flows) {
    check(flow.size.count() >= 0 && flow.start >= Duration(), "sizes and times are not negative");
    if (flow.destination.find_first_of("\"\r") != flow.destination.npos) return;
  }
  check(parse_load(load_text(load), "again") == load, "a load is read as it was written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<SizeDistribution> sizes;
  try {
    sizes = SizeDistribution::parse(text, "fuzz");
  } catch (const DataError&) {
  }
  if (sizes) check_sizes(*sizes);
  Load load;
  try {
    load = parse_load(text, "fuzz");
  } catch (const DataError&) {
    return 0;
  }
  check_load(load);
  return 0;
}
