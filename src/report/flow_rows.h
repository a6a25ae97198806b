// SPDX-License-Identifier: Apache-2.0
// Flows one by one over time, and what each pair carried in each iteration.
//
// A connection that lives as long as the run says little by its length; what tells is how much it
// carried when. So a row has the flow's rate in cells of equal width, which are the same for all.

#pragma once

#include "trainwire/report/limits.h"
#include "trainwire/report/throughput.h"
#include "trainwire/result/table_reader.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tw::report {

struct FlowRow {
  std::int64_t number = 0;  ///< in flows.csv
  std::string source, source_port, destination, destination_port, protocol, kind;
  std::int64_t first_ns = 0, last_ns = 0, bytes = 0;
};

struct FlowRows {
  std::vector<FlowRow> rows;  ///< by source, destination and start
  std::size_t left_off = 0;
  std::int64_t left_off_bytes = 0;
  std::set<std::int64_t> numbers() const;
};

/// The flows that carried the most bytes of frames, no more than `limits.flows`.
FlowRows read_flow_rows(result::TableReader& flows, const Limits& limits);

/// {"start_s", "cell_s", "left_off", "left_off_bytes", "rows": [{"source", "destination",
/// "protocol", "class", "first_s", "last_s", "bytes", "cell", "rates"}]}: "rates" are of cells in a
/// row from number "cell" on, in bit/s, and missing where windows.csv has none of the flow.
nlohmann::ordered_json flow_rows_document(const FlowRows& flows,
                                          const std::map<std::int64_t, Series>& series,
                                          std::int64_t origin_ns, const Limits& limits);

/// {"pairs": [[from, to]], "iteration", "pair", "bytes", "start_us", "length_us", "iterations",
/// "left_off_pairs", "sizes"}: lists of equal length, one entry for each iteration and pair that
/// carried gradients, of the first iterations as `limits` allows but one at least; "iterations" is
/// how many there are, "sizes" the distribution() of bytes in all of them. Null without a row.
nlohmann::ordered_json transfers_document(result::TableReader& iteration_pairs,
                                          std::int64_t origin_ns, const Limits& limits);

/// {"start_us", "end_us", "middle_us", "count"}: the first ones; "middle_us" is when the middle one
/// of them begins to exchange gradients. Null without a row.
nlohmann::ordered_json iterations_document(result::TableReader& iterations, std::int64_t origin_ns,
                                           const Limits& limits);

}  // namespace tw::report
