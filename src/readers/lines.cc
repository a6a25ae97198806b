// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/lines.h"

#include <algorithm>

namespace tw::readers {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;
constexpr std::size_t kMostText = std::size_t{256} << 20;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool Lines::next() {
  if (!cut()) return false;
  if (line_.find('\0') == std::string_view::npos) return true;
  kept_.assign(line_);
  holes_ += std::erase(kept_, '\0');
  line_ = kept_;
  return true;
}

bool Lines::cut() {
  std::size_t searched = 0;
  while (true) {
    const std::string_view rest = window_.substr(at_);
    const std::size_t end = rest.find_first_of("\n\r", searched);
    if (end != std::string_view::npos) {
      line_ = rest.substr(0, end);
      at_ += end + 1;
      return true;
    }
    if (rest.size() >= kLongestLine) {
      ++too_long_;
      line_ = rest;
      at_ = window_.size();
      return true;
    }
    searched = rest.size();
    window_ = text_of(source_.advance(at_, std::max(2 * rest.size(), kWindow)));
    at_ = 0;
    if (window_.size() > searched) continue;
    line_ = window_;
    at_ = window_.size();
    return !line_.empty();
  }
}

std::string whole_text(capture::ByteSource& source) {
  std::string text;
  std::string_view window;
  while (text.size() < kMostText) {
    window = text_of(source.advance(window.size(), kWindow));
    if (window.empty()) break;
    text += window;
  }
  return text;
}

}  // namespace tw::readers
