// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/nccl_lines.h"

#include "trainwire/base/printable.h"

#include <algorithm>
#include <array>

namespace tw::readers {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The word that ends at the end of `text`, blanks behind it left out.
std::string_view last_word(std::string_view& text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const std::size_t blank = text.rfind(' ');
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin);
  text.remove_suffix(word.size());
  return word;
}

/// Takes ":123" from the end of `word`.
bool drop_number(std::string_view& word) {
  std::size_t digits = 0;
  while (digits < word.size() && is_digit(word[word.size() - 1 - digits])) ++digits;
  if (digits == 0 || digits == word.size() || word[word.size() - 1 - digits] != ':') return false;
  word.remove_suffix(digits + 1);
  return true;
}

std::string lower_of(std::string_view word) {
  std::string lower;
  for (const char c : word.substr(0, 24)) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return printable(lower);
}

template <std::size_t N>
std::string named(std::string_view word, const std::array<std::string_view, N>& names) {
  if (word.size() == 1 && is_digit(word[0])) {
    const auto index = static_cast<std::size_t>(word[0] - '0');
    if (index < N) return std::string(names[index]);
  }
  return lower_of(word);
}

/// "[0]": the device.
bool took_device(std::string_view word, NcclLine& into) {
  if (!word.starts_with('[') || !word.ends_with(']')) return false;
  into.device = word.substr(1, word.size() - 2);
  return true;
}

/// "transport/net_ib.cc:1295", not "host:12:34".
bool is_place(std::string_view word) {
  return drop_number(word) && word.find(':') == std::string_view::npos &&
         word.find('.') != std::string_view::npos;
}

/// "host:12:34" in `line`: the host, and its process.
bool took_host(std::string_view word, std::string_view line, NcclLine& into) {
  if (!drop_number(word) || !drop_number(word)) return false;
  // Launchers put "[1,0]<stdout>:" or "0: " before it; what another program printed without a line's end stays glued to the
  // host's name.
  const std::size_t prefix = word.find_last_of(">:|");
  if (prefix != std::string_view::npos) word.remove_prefix(prefix + 1);
  into.host = printable(word);
  std::string_view process = line.substr(static_cast<std::size_t>(word.data() - line.data()));
  process = process.substr(0, process.find_first_of(" ["));
  drop_number(process);
  into.process = std::string(process);
  return true;
}

/// Before 2.3 without the name: "host:12:34 [0] INFO Ring 00 : 0 1", "host:12:34 [0] misc/ibvwrap.cu:61 WARN Failed to ..". Other
/// programs' lines say INFO too, so that host, process and device must all stand there.
std::optional<NcclLine> old_line(std::string_view line) {
  std::size_t mark = line.rfind("] INFO ");
  const bool warns = mark == std::string_view::npos;
  if (warns) mark = line.rfind(" WARN ");
  if (mark == std::string_view::npos) return {};
  constexpr std::string_view kMark = "] INFO ";
  NcclLine made{.host = {},
                .process = {},
                .device = {},
                .warns = warns,
                .text = line.substr(mark + kMark.size() - (warns ? 1 : 0))};
  std::string_view before = line.substr(0, warns ? mark : mark + 1);
  if (warns && !is_place(last_word(before))) return {};
  if (!took_device(last_word(before), made) || made.device.empty() ||
      !std::all_of(made.device.begin(), made.device.end(), is_digit)) {
    return {};
  }
  return took_host(last_word(before), line, made) ? std::optional(made) : std::nullopt;
}

}  // namespace

std::optional<NcclLine> nccl_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  std::size_t mark = line.rfind("NCCL INFO ");
  const std::size_t warning = line.rfind("NCCL WARN ");
  const bool warns = mark == std::string_view::npos;
  if (warns) mark = warning;
  if (mark == std::string_view::npos) return old_line(line);
  if (mark > 0 && line[mark - 1] != ' ') return {};
  NcclLine made{
      .host = {}, .process = {}, .device = {}, .warns = warns, .text = line.substr(mark + 10)};
  std::string_view before = line.substr(0, mark);
  std::string_view word = last_word(before);
  if (took_device(word, made)) word = last_word(before);
  // Since 2.2x a warning names file and line behind the device; of plugins it may be one of C.
  if (warns && is_place(word)) {
    word = last_word(before);
    if (took_device(word, made)) word = last_word(before);
  }
  // People cut host and process off before they show a log.
  took_host(word, line, made);
  return made;
}

std::optional<NcclType> nccl_type(std::int64_t number) {
  static constexpr std::array<NcclType, 12> kTypes{{{"int8", 1},
                                                    {"uint8", 1},
                                                    {"int32", 4},
                                                    {"uint32", 4},
                                                    {"int64", 8},
                                                    {"uint64", 8},
                                                    {"half", 2},
                                                    {"float", 4},
                                                    {"double", 8},
                                                    {"bfloat16", 2},
                                                    {"fp8_e4m3", 1},
                                                    {"fp8_e5m2", 1}}};
  if (number < 0 || number >= static_cast<std::int64_t>(kTypes.size())) return {};
  return kTypes[static_cast<std::size_t>(number)];
}

std::string algorithm_name(std::string_view word) {
  static constexpr std::array<std::string_view, 7> kNames{
      "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
  return named(word, kNames);
}

std::string protocol_name(std::string_view word) {
  static constexpr std::array<std::string_view, 3> kNames{"ll", "ll128", "simple"};
  return named(word, kNames);
}

}  // namespace tw::readers
