// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/perf_lines.h"

#include <algorithm>
#include <optional>

namespace tw::nccl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Behind "> " of a quotation, "0: " of srun -l, "[0] " of Hydra's -l, "2026-11-15T05:16:39.9Z " of kubectl --timestamps and "[pod/a/b] " of its --prefix; nothing
/// where none of them begins the line.
std::optional<std::string_view> behind_prefix(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos) return std::nullopt;
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  const bool is_rank = word.size() >= 2 && word.size() <= 8 && word.ends_with(':') &&
                       std::all_of(word.begin(), word.end() - 1, is_digit);
  const bool is_label = word.size() > 2 && word[0] == '[' && word.ends_with(']') &&
                        std::all_of(word.begin() + 1, word.end() - 1, is_digit);
  const bool is_time = word.size() >= 19 && is_digit(word[0]) && word[4] == '-' && word[7] == '-' &&
                       word[10] == 'T' && word[13] == ':';
  const bool is_pod = word.starts_with("[pod/") && word.ends_with(']');
  if (word != ">" && !is_rank && !is_label && !is_time && !is_pod) return std::nullopt;
  return line.substr(end);
}

/// Behind "node0.hsn 0: " of PALS or "worker-0: ": a name, perhaps with a rank, where a row or a "#" follows.
std::string_view behind_name(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == line.npos || colon > 255) return line;
  const std::string_view rest = line.substr(colon + 2);
  const std::size_t first = rest.find_first_not_of(" \t");
  const bool is_table = first != rest.npos && (rest[first] == '#' || is_digit(rest[first]));
  const std::size_t begin = line.find_first_not_of(" \t");
  const bool is_name = begin < colon && line[begin] != '#' && !is_digit(line[begin]);
  return is_table && is_name ? rest : line;
}

}  // namespace

std::string_view bare_row(std::string_view line) {
  for (int prefixes = 0; prefixes < 3; ++prefixes) {
    const auto rest = behind_prefix(line);
    if (!rest) break;
    line = *rest;
  }
  line = behind_name(line);
  for (const std::string_view tag :
       {std::string_view("<stdout>:"), std::string_view("<stderr>:")}) {
    if (const std::size_t at = line.find(tag); at != line.npos) line.remove_prefix(at + tag.size());
  }
  const std::size_t log = std::min(line.find(" NCCL INFO"), line.find(" NCCL WARN"));
  if (log == line.npos) return line;
  // The word before "[0]" is the log's.
  line = line.substr(0, log);
  for (int word = 0; word < 2 && !line.empty(); ++word) {
    const std::size_t end = line.find_last_not_of(" \t");
    if (end == line.npos) return {};
    const std::size_t begin = line.find_last_of(" \t", end);
    if (word == 0 && line[end] != ']') ++word;
    line = line.substr(0, begin == line.npos ? 0 : begin);
  }
  return line;
}

}  // namespace tw::nccl
