// SPDX-License-Identifier: Apache-2.0
#include "trainwire/tables/columns.h"

#include "trainwire/operations/operation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tw::tables {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (true) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) return words;
    const std::size_t begin = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    words.push_back(line.substr(begin, at - begin));
  }
}

std::vector<std::string_view> fields_of(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = std::min(line.find(separator), line.size());
    std::string_view field = trimmed(line.substr(0, end));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    if (end == line.size()) return fields;
    line.remove_prefix(end + 1);
  }
}

std::optional<double> number_in(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) return {};
  return number;
}

std::optional<std::int64_t> count_in(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0) return {};
  return number;
}

bool can_be_meant(std::int64_t bytes, double time_s) {
  return bytes > 0 && bytes < (std::int64_t{1} << 60) && time_s > 1e-12 && time_s < 1e9;
}

std::string op_named(std::string_view name) {
  // Non-blocking collectives of MPI, variants of Gloo.
  if (const std::string op = operations::canonical_op(name); !op.empty()) return op;
  if (name.starts_with('I') || name.starts_with('i')) {
    if (const std::string op = operations::canonical_op(name.substr(1)); !op.empty()) return op;
  }
  const std::string_view stem = name.substr(0, name.find('_'));
  if (const std::string op = operations::canonical_op(stem); !op.empty()) return op;
  static constexpr std::array<std::string_view, 6> kOfTwo{"Latency",  "Bandwidth", "Bi-Directional",
                                                          "PingPong", "PingPing",  "Sendrecv"};
  const bool of_two = std::any_of(kOfTwo.begin(), kOfTwo.end(),
                                  [&](std::string_view word) { return name.starts_with(word); });
  return of_two ? "send" : "";
}

std::optional<std::int64_t> size_of(std::string_view op, std::int64_t bytes, int ranks) {
  const bool by_rank =
      op == "all_gather" || op == "gather" || op == "scatter" || op == "all_to_all";
  if (!by_rank) return bytes;
  if (ranks <= 0) return {};
  return operations::product(bytes, ranks);
}

}  // namespace tw::tables
