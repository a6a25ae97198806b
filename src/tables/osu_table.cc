// SPDX-License-Identifier: Apache-2.0
// "# OSU MPI Allreduce Latency Test v7.5", "# Size       Avg Latency(us)", rows of a size and a time; bandwidth tests have
// "# Size      Bandwidth (MB/s)".
#include "trainwire/tables/columns.h"

namespace tw::tables {
namespace {

/// "Allreduce" of "# OSU MPI-CUDA Allreduce Latency Test v7.5", "Latency" of "# OSU MPI Latency Test".
std::string op_of_title(std::string_view line) {
  for (const std::string_view word : words_of(line)) {
    if (word == "#" || word == "OSU" || word.starts_with("MPI") || word == "Non-blocking" ||
        word == "NCCL" || word == "Multi" || word == "Personalized") {
      continue;
    }
    if (const std::string op = op_named(word); !op.empty()) return op;
  }
  return {};
}

}  // namespace

Benchmark parse_osu(std::string_view text) {
  Benchmark made{.program = "osu"};
  std::string op;
  bool is_rate = false;
  bool is_per_rank = false;
  for_lines(text, [&](std::string_view line) {
    if (line.find("# OSU ") != std::string_view::npos) {
      op = op_of_title(line.substr(line.find("# OSU ")));
      made.curves.push_back({.op = op});
      is_rate = false;
      return;
    }
    if (line.starts_with('#')) {
      if (line.find("Size") != std::string_view::npos)
        is_rate = line.find("Bandwidth") != std::string_view::npos;
      return;
    }
    const auto words = words_of(line);
    if (words.empty() || op.empty() || made.rows() >= kMostRows) return;
    if (!number_in(words[0])) return;
    const auto size = count_in(words[0]);
    const auto value = words.size() > 1 ? number_in(words[1]) : std::nullopt;
    if (!size || !value) {
      ++made.skipped;
      return;
    }
    const double time_s =
        is_rate ? (*value > 0 ? static_cast<double>(*size) / (1e6 * *value) : 0) : 1e-6 * *value;
    if (!can_be_meant(*size, time_s)) {
      ++made.skipped;
      return;
    }
    is_per_rank = is_per_rank || !size_of(op, *size, 0);
    made.curves.back().rows.push_back({*size, time_s});
  });
  if (is_per_rank) {
    made.limits.emplace_back(
        "OSU does not print how many ranks there were: sizes are what a rank gives, and bus "
        "bandwidth is not known");
  }
  return made;
}

}  // namespace tw::tables
