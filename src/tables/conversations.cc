// SPDX-License-Identifier: Apache-2.0
#include "trainwire/tables/conversations.h"

#include "trainwire/tables/columns.h"

#include <cmath>

namespace tw::tables {
namespace {

constexpr std::string_view kTitle = " Conversations";

/// "10.0.0.1" of "10.0.0.1:43981" and "fd00::1" of "[fd00::1]:80"; layers without ports have none to take off.
std::string_view without_port(std::string_view end, bool has_ports) {
  if (!has_ports) return end;
  if (end.starts_with('[')) return end.substr(1, end.find(']') - 1);
  return end.substr(0, end.rfind(':'));
}

/// "1,036" is 1036: tshark groups digits where the language of its user does.
std::string without_commas(std::string_view word) {
  std::string made(word);
  std::erase(made, ',');
  return made;
}

/// Frames and bytes: "767 321 kB", and before tshark 4 "767 321222".
struct Amounts {
  const std::vector<std::string_view>& words;
  std::size_t at;
  bool is_rounded = false;

  std::optional<Sent> next() {
    if (at + 1 >= words.size()) return {};
    const auto frames = count_in(without_commas(words[at]));
    const auto bytes = number_in(without_commas(words[at + 1]));
    if (!frames || !bytes || *bytes < 0 || *bytes > 1e15) return {};
    at += 2;
    double unit = 1;
    if (at < words.size() && !number_in(without_commas(words[at]))) {
      is_rounded = true;
      const std::string_view name = words[at++];
      if (name == "kB") unit = 1e3;
      if (name == "MB") unit = 1e6;
      if (name == "GB") unit = 1e9;
      if (name == "TB") unit = 1e12;
    }
    if (*bytes * unit > 1e18) return {};
    return Sent{.packets = static_cast<std::uint64_t>(*frames),
                .bytes = static_cast<std::uint64_t>(std::llround(*bytes * unit))};
  }
};

}  // namespace

bool is_conversations(std::string_view text) {
  const std::string_view beginning = text.substr(0, 4096);
  return beginning.find(kTitle) != std::string_view::npos &&
         beginning.find("<->") != std::string_view::npos;
}

void read_conversations(std::string_view text, FlowRecords& into) {
  int tables = 0;
  bool has_ports = false;
  bool is_rounded = false;
  for_lines(text, [&](std::string_view line) {
    if (line.ends_with(kTitle)) {
      ++tables;
      has_ports = line.starts_with("TCP") || line.starts_with("UDP");
      return;
    }
    const auto words = words_of(line);
    const bool begins_as_row = line.find("<->") != std::string_view::npos ||
                               (!line.empty() && line[0] >= '0' && line[0] <= '9');
    if (tables != 1 || !begins_as_row) return;
    Amounts amounts{words, 3};
    const bool has_ends = words.size() >= 7 && words[1] == "<->";
    const auto back = has_ends ? amounts.next() : std::nullopt;
    const auto forth = back ? amounts.next() : std::nullopt;
    if (!back || !forth) {
      ++into.skipped["rows that are cut off"];
      return;
    }
    is_rounded = is_rounded || amounts.is_rounded;
    const std::string_view a = without_port(words[0], has_ports);
    const std::string_view b = without_port(words[2], has_ports);
    ++into.records;
    if (forth->packets > 0) add_flow(into, a, b, *forth);
    if (back->packets > 0) add_flow(into, b, a, *back);
  });
  if (is_rounded)
    into.limits.emplace_back("tshark prints amounts rounded to kB or MB: sums are not to the byte");
}

}  // namespace tw::tables
