// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/look.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

namespace tw::terminal {
namespace {

constexpr std::size_t kLeastWidth = 40;  ///< below which breaking lines helps nobody
constexpr std::string_view kPlain = "\x1b[0m";

using Mark = std::pair<std::string_view, std::string_view>;
// Green, yellow, bold red.
constexpr std::array<Mark, 6> kMarks{{{"ok", "\x1b[32m"},
                                      {"warn", "\x1b[33m"},
                                      {"FAIL", "\x1b[1;31m"},
                                      {"not ok", "\x1b[1;31m"},
                                      {"FAILED", "\x1b[1;31m"},
                                      {"NOT AS EXPECTED", "\x1b[1;31m"}}};

std::size_t terminal_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text(columns);
    std::size_t width = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, width).ptr == end && width > 0) return width;
  }
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool may_colour() {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no == nullptr || *no == '\0') && term != nullptr && std::string_view(term) != "dumb";
}

/// Where the text of a line begins: behind its indentation, and behind labels that blanks set apart.
std::size_t text_begin(std::string_view line, std::size_t most) {
  std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  for (std::size_t gap = line.find("  ", begin); gap < most; gap = line.find("  ", begin)) {
    begin = std::min(line.find_first_not_of(' ', gap), line.size());
  }
  return begin;
}

std::vector<std::string> broken(std::string_view line, std::size_t width) {
  if (width < kLeastWidth || width_of(line) <= width) return {std::string(line)};
  const std::size_t begin = text_begin(line, width / 2);
  const std::string_view text = line.substr(begin);
  const std::size_t indent = width_of(line.substr(0, begin));
  // Blanks further on are columns of a table.
  if (text.find("  ") != text.npos || indent > width / 2) return {std::string(line)};
  std::vector<std::string> lines = wrapped(text, width - indent);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i] = (i == 0 ? std::string(line.substr(0, begin)) : std::string(indent, ' ')) + lines[i];
  }
  return lines;
}

/// The first mark of the line, set apart by blanks, in its colour.
std::string coloured(std::string line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  for (const auto& [word, colour] : kMarks) {
    const bool begins = begin > 0 && line.compare(begin, word.size(), word) == 0 &&
                        line.compare(begin + word.size(), 2, "  ") == 0;
    const bool ends = line.size() > word.size() + 2 && line.ends_with(word) &&
                      line.compare(line.size() - word.size() - 2, 2, "  ") == 0;
    if (!begins && !ends) continue;
    const std::size_t at = begins ? begin : line.size() - word.size();
    line.insert(at + word.size(), kPlain);
    line.insert(at, colour);
    return line;
  }
  return line;
}

}  // namespace

Look look_of(const std::ostream& out) {
  if (&out != &std::cout || ::isatty(STDOUT_FILENO) == 0) return {};
  return {.width = terminal_width(), .colour = may_colour()};
}

std::string fitted(std::string_view line, const Look& look) {
  std::vector<std::string> lines = broken(line, look.width);
  if (look.colour) lines.front() = coloured(std::move(lines.front()));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

void FittedStream::Buffer::take(char c) {
  if (c != '\n') {
    line_ += c;
    return;
  }
  to_ << fitted(std::exchange(line_, {}), look_) << '\n';
}

FittedStream::Buffer::int_type FittedStream::Buffer::overflow(int_type c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  take(traits_type::to_char_type(c));
  return to_ ? c : traits_type::eof();
}

std::streamsize FittedStream::Buffer::xsputn(const char* text, std::streamsize count) {
  for (std::streamsize i = 0; i < count; ++i) take(text[i]);
  return to_ ? count : 0;
}

int FittedStream::Buffer::sync() {
  to_ << std::exchange(line_, {}) << std::flush;
  return to_ ? 0 : -1;
}

}  // namespace tw::terminal
