// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/clean_text.h"

#include "trainwire/base/utf8.h"

#include <algorithm>

namespace tw {
namespace {

/// Bytes of the character that `text` starts with; 0 when there is none to keep.
std::size_t clean_length(std::string_view text) {
  return text.front() == '\0' ? 0 : character_length(text);
}

bool is_plain(char c) { return c > 0; }

}  // namespace

bool is_clean(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return true;
  while (!text.empty()) {
    const std::size_t length = clean_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string cleaned(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = clean_length(text);
    result += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

}  // namespace tw
