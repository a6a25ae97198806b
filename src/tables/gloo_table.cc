// SPDX-License-Identifier: Apache-2.0
// "Algorithm:   allreduce_ring", "Options:     processes=4, inputs=1", then "size (B)  elements  min (us)  p50 (us) ..." or,
// before 2020, "elements   min (us)   p50 (us)   p99 (us)   max (us)   avg (GB/s)   samples", of which an element is a float.
#include "trainwire/operations/operation.h"
#include "trainwire/tables/columns.h"

namespace tw::tables {

Benchmark parse_gloo(std::string_view text) {
  Benchmark made{.program = "gloo_benchmark"};
  bool in_table = false;
  bool has_size = false;
  std::string op;
  int ranks = 0;
  for_lines(text, [&](std::string_view line) {
    constexpr std::string_view kAlgorithm = "Algorithm:";
    constexpr std::string_view kProcesses = "processes=";
    if (const std::size_t at = line.find(kAlgorithm); at != std::string_view::npos) {
      const auto name = words_of(line.substr(at + kAlgorithm.size()));
      op = name.empty() ? "" : op_named(name.front());
      in_table = false;
      return;
    }
    if (const std::size_t at = line.find(kProcesses); at != std::string_view::npos) {
      const auto number = fields_of(line.substr(at + kProcesses.size()), ',').front();
      const auto count = count_in(number);
      ranks = count && *count < 10'000'000 ? static_cast<int>(*count) : 0;
      return;
    }
    if (line.find("p50 (us)") != std::string_view::npos) {
      in_table = true;
      has_size = line.find("size (B)") != std::string_view::npos;
      // Without the lines above a table is what the benchmark does unless it is asked for another.
      made.curves.push_back({.op = op.empty() ? "all_reduce" : op, .ranks = ranks});
      return;
    }
    const auto words = words_of(line);
    const std::size_t time_at = has_size ? 3 : 2;
    if (!in_table || words.size() <= time_at || made.rows() >= kMostRows) return;
    const auto first = count_in(words[0]);
    const auto time_us = number_in(words[time_at]);
    if (!first || !time_us) return;
    const auto bytes = has_size ? first : operations::product(*first, 4);
    if (!bytes || !can_be_meant(*bytes, 1e-6 * *time_us)) {
      ++made.skipped;
      return;
    }
    made.curves.back().rows.push_back({*bytes, 1e-6 * *time_us});
  });
  return made;
}

}  // namespace tw::tables
