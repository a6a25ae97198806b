// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/printable.h"

#include "trainwire/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace tw {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Bytes of the well-formed, visible character that `text` starts with; 0 when there is none.
std::size_t visible_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7f) return 0;
  const std::size_t length = character_length(text);
  // The second set of control characters.
  const bool is_control =
      length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
  return is_control ? 0 : length;
}

/// Bytes of the first `width` characters.
std::size_t bytes_of(std::string_view text, std::size_t width) {
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (!is_continuation(text[i]) && width-- == 0) break;
  }
  return i;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> largest_of_shares(std::span<const double> values, std::size_t shares) {
  std::vector<double> result;
  for (std::size_t i = 0; i < shares; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / shares);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / shares);
    result.push_back(*std::max_element(begin, end));
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = visible_length(text);
    if (length == 0) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}",
                     static_cast<unsigned char>(text.front()));
    }
    result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string cut(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  return std::string(text.substr(0, bytes_of(text, width - 1))) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (width_of(text) > width) {
    const std::size_t most = bytes_of(text, width);
    // A blank just behind the line ends it too.
    const std::size_t blank = text.substr(0, most + 1).rfind(' ');
    const std::size_t end = blank == text.npos || blank == 0 ? most : blank;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

std::string sparkline(std::span<const double> values, std::size_t width) {
  static constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty()) return {};
  const double median = median_of({values.begin(), values.end()});
  const double low = *std::min_element(values.begin(), values.end()) - 0.15 * median;
  const double high = std::max(*std::max_element(values.begin(), values.end()), 2 * median);
  std::string line;
  for (const double value : largest_of_shares(values, std::min(width, values.size()))) {
    const double share = high > low ? (value - low) / (high - low) : 0;
    line += kBlocks[static_cast<std::size_t>(std::clamp(8 * share, 0.0, 7.0))];
  }
  return line;
}

}  // namespace tw
