// SPDX-License-Identifier: Apache-2.0
// Lines and words of tables, and the readers of each program's (benchmark.h has what they return).

#pragma once

#include "trainwire/tables/benchmark.h"

#include <optional>
#include <string_view>
#include <vector>

namespace tw::tables {

/// More rows than any benchmark prints.
inline constexpr std::size_t kMostRows = 1'000'000;

/// Words between blanks.
std::vector<std::string_view> words_of(std::string_view line);
/// What stands between separators, without the blanks around it; quotes around a field are taken off.
std::vector<std::string_view> fields_of(std::string_view line, char separator);
/// The whole word as a finite number.
std::optional<double> number_in(std::string_view word);
/// The whole word as a number that is not negative.
std::optional<std::int64_t> count_in(std::string_view word);

/// Digits behind the point.
inline std::size_t decimals_of(std::string_view word) {
  const std::size_t point = word.find('.');
  return point == std::string_view::npos ? 0 : word.size() - point - 1;
}

/// A line without what launchers put before it: "[1,0]<stdout>:", with a date before it or not, "0: ".
inline std::string_view behind_launcher(std::string_view line) {
  const std::string_view first = line.substr(0, 64);
  const std::size_t tag = first.find("]<stdout>:");
  if (tag != std::string_view::npos && first.find('[') < tag) return line.substr(tag + 10);
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool is_rank = digits != std::string_view::npos && digits > 0 && digits <= 7;
  return is_rank && line.substr(digits).starts_with(": ") ? line.substr(digits + 2) : line;
}

/// Calls `use` with each line, without its end.
template <typename Use>
void for_lines(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r"), text.size());
    use(behind_launcher(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// A size above 0 and a time above 0, both of which can be squared.
bool can_be_meant(std::int64_t bytes, double time_s);

/// "all_reduce" of "Allreduce", "IAllreduce", "allreduce_ring"; "send" of what two ranks do.
std::string op_named(std::string_view name);

/// What a rank gives, or gives to each, as nccl-tests' size. Nothing where ranks are not told and matter.
std::optional<std::int64_t> size_of(std::string_view op, std::int64_t bytes, int ranks);

/// Lines of iperf3 without those around them.
bool has_iperf_intervals(std::string_view text);

Benchmark parse_osu(std::string_view text);
Benchmark parse_imb(std::string_view text);
Benchmark parse_gloo(std::string_view text);
Benchmark parse_iperf(std::string_view text);
Benchmark parse_all_reduce_bench(std::string_view text);
Benchmark parse_hccl_test(std::string_view text);
Benchmark parse_nccom_test(std::string_view text);
Benchmark parse_ucc_perftest(std::string_view text);
Benchmark parse_deepspeed_bench(std::string_view text);

}  // namespace tw::tables
