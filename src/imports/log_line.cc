// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/log_line.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tw::imports {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [](char expected, char c) { return lower(c) == expected; });
}

/// The whole number that follows signs of punctuation; nothing when it goes on as a fraction or
/// unit.
std::optional<std::int64_t> number_after(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t#:=([_\"'"), text.size());
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end < text.size() && (is_letter(text[end]) || text[end] == '%')) return {};
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) return {};
  return parse_whole(text.substr(begin, end - begin));
}

constexpr std::string_view kGlobal = "global_step";

/// The number behind the first `word` that has one.
std::optional<std::int64_t> number_of(std::string_view line, std::string_view word) {
  for (std::size_t i = 0; i + word.size() < line.size(); ++i) {
    if (lower(line[i]) != word.front() || !starts_with_word(line.substr(i), word)) continue;
    // "timing_s/step" is no step's number, as "micro_step=8/global_step=2" has one.
    const bool is_path = i > 0 && line[i - 1] == '/' && word != kGlobal;
    if (is_path || (i > 0 && is_letter(line[i - 1]))) continue;
    if (const auto number = number_after(line.substr(i + word.size()))) return number;
  }
  return {};
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::string excerpt(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return text.size() > 40 ? result + "..." : result;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return value;
}

bool split_csv(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  while (true) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    std::size_t end = 0;
    if (line.starts_with('"')) {
      end = line.find('"', 1);
      while (end != line.npos && line.substr(end + 1).starts_with('"'))
        end = line.find('"', end + 2);
      if (end == line.npos) return false;
      cells.push_back(line.substr(1, end - 1));
      // Words behind the quote are of no table: "step": 1 in a line of JSON.
      if (!trimmed(line.substr(end + 1, line.find(',', end) - end - 1)).empty()) return false;
      end = std::min(line.find(',', end), line.size());
    } else {
      end = std::min(line.find(','), line.size());
      cells.push_back(trimmed(line.substr(0, end)));
    }
    if (end == line.size()) return true;
    line.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> step_number(std::string_view line) {
  // DeepSpeed's line has micro steps before it.
  static constexpr std::array<std::string_view, 5> kWords{kGlobal, "iteration", "iter", "step",
                                                          "batch"};
  for (const std::string_view word : kWords) {
    if (const auto number = number_of(line, word)) return number;
  }
  return {};
}

std::optional<std::int64_t> sampled_step(std::string_view line) {
  const std::size_t rate = line.find("SamplesPerSec=");
  const std::size_t slash = line.substr(0, rate).rfind('/');
  if (rate == line.npos || slash == line.npos) return {};
  const std::string_view behind = line.substr(slash + 1);
  return parse_whole(behind.substr(0, behind.find(',')));
}

std::optional<std::int64_t> step_of_epoch(std::string_view line) {
  constexpr std::string_view kEpoch = "Epoch: [";
  const std::size_t epoch = line.find(kEpoch);
  if (epoch == line.npos) return {};
  line.remove_prefix(epoch + kEpoch.size());
  const std::size_t joint = line.find("][");
  if (joint == line.npos || line.substr(0, joint).find('/') == line.npos) return {};
  line.remove_prefix(joint + 2);
  const std::size_t slash = line.find('/');
  if (slash == line.npos) return {};
  return parse_whole(trimmed(line.substr(0, slash)));
}

std::optional<std::int64_t> rank_number(std::string_view line) {
  if (const auto rank = number_of(line, "rank")) return rank;
  const std::size_t close = line.find("]<");
  if (!line.starts_with('[') || close == line.npos) return {};
  const std::string_view inside = line.substr(1, close - 1);
  return parse_whole(inside.substr(inside.rfind(',') + 1));
}

}  // namespace tw::imports
