// SPDX-License-Identifier: Apache-2.0
// "# Benchmarking Allreduce", "# #processes = 144", "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]", rows; of
// two processes "#bytes #repetitions      t[usec]   Mbytes/sec", of non-blocking collectives "t_ovrl[usec] t_pure[usec]". Several
// such blocks a file; older ones repeat name and processes in each row, as their header says. oneCCL's benchmark prints the same with
// colons: "# Benchmarking: allreduce", "# #processes: 4".
#include "trainwire/base/printable.h"
#include "trainwire/tables/columns.h"

#include <optional>
#include <set>
#include <string>

namespace tw::tables {
namespace {

/// Without the "=" of Intel's, and the ":" of oneCCL's.
std::string_view behind_colon(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t:="), text.size()));
  return text;
}

/// Where the name of "# Benchmarking Allreduce" begins: pages lose the '#'. Headers of old versions say "#Benchmarking  #procs  #bytes".
std::size_t behind_title(std::string_view line) {
  constexpr std::string_view kBenchmarking = "Benchmarking";
  const std::size_t at = line.find(kBenchmarking);
  const bool is_title = at != std::string_view::npos &&
                        (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') &&
                        line.find('#', at) == std::string_view::npos;
  return is_title ? at + kBenchmarking.size() : std::string_view::npos;
}

/// Where people leave the title out, the word before the header may name the block: "Sendrecv:".
std::string op_of_word(std::string_view word) {
  for (const std::string_view unread : {"Exchange", "Uniband", "Biband"}) {
    if (word.starts_with(unread)) return {};
  }
  const std::string op = op_named(word);
  return op.empty() ? "unknown" : op;
}

}  // namespace

Benchmark parse_imb(std::string_view text) {
  Benchmark made{.program = "imb"};
  std::size_t size_at = 0;
  std::size_t time_at = 0;  // 0: no header with a time since the block began
  std::size_t most_decimals = 0;
  std::string block;
  std::string_view word;  // the first of the line before
  bool has_title = false;
  bool is_per_rank = false;
  std::set<std::string> unread;
  for_lines(text, [&](std::string_view line) {
    const auto words = words_of(line);
    if (const std::size_t at = behind_title(line); at != std::string_view::npos) {
      const auto name = words_of(behind_colon(line.substr(at)));
      block = name.empty() ? "" : name.front().substr(0, 32);
      made.curves.push_back({.op = op_named(block)});
      time_at = 0;
      has_title = true;
      return;
    }
    const bool is_header = line.find("#repetitions") != std::string_view::npos;
    if (is_header && !has_title) {
      block = word.substr(0, 32);
      made.curves.push_back({.op = op_of_word(word)});
    }
    const bool is_word = !words.empty() && !number_in(words.front());
    const bool is_ruler = is_word && words.front().find_first_not_of("~-=#*") == words.front().npos;
    if (is_word && !is_ruler && !is_header) word = words.front();
    if (made.curves.empty()) return;
    Curve& curve = made.curves.back();
    constexpr std::string_view kRanks = "#processes";
    if (const std::size_t at = line.find(kRanks); at != std::string_view::npos) {
      const auto ranks = words_of(behind_colon(line.substr(at + kRanks.size())));
      const auto number = ranks.empty() ? std::nullopt : count_in(ranks.front());
      if (number && *number < 10'000'000) curve.ranks = static_cast<int>(*number);
      return;
    }
    if (is_header) {
      has_title = false;
      size_at = 0;
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "#bytes") size_at = i;
        if (words[i] == "t_avg[usec]" || words[i] == "t[usec]" || words[i] == "t_pure[usec]")
          time_at = i;
      }
      return;
    }
    if (words.size() < 3 || made.rows() >= kMostRows) return;
    if (curve.op.empty() || curve.op == "barrier" || time_at == 0) {
      if (!number_in(words.front())) return;
      unread.insert(block);
      ++made.skipped;
      return;
    }
    if (words.size() <= time_at) return;
    const auto bytes = count_in(words[size_at]);
    const auto time_us = number_in(words[time_at]);
    if (!bytes || !time_us) return;
    const auto whole = size_of(curve.op, *bytes, curve.ranks);
    const auto size = curve.ranks > 0 ? whole : std::optional(*bytes);
    is_per_rank = is_per_rank || (curve.ranks == 0 && !whole);
    // All times of a table have as many decimals: one with fewer was cut off.
    const std::size_t decimals = decimals_of(words[time_at]);
    if (curve.rows.empty()) most_decimals = decimals;
    if (!size || !can_be_meant(*size, 1e-6 * *time_us) || decimals < most_decimals) {
      ++made.skipped;
      return;
    }
    curve.rows.push_back({*size, 1e-6 * *time_us});
  });
  if (is_per_rank) {
    made.limits.emplace_back(
        "no line tells how many ranks there were: sizes are what a rank gives, and bus bandwidth "
        "is not known");
  }
  for (const std::string& name : unread)
    made.limits.push_back("the block of " + printable(name) +
                          " was left out: it tells no time of an operation by its size");
  return made;
}

}  // namespace tw::tables
