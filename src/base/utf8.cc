// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/utf8.h"

#include <algorithm>

namespace tw {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The range in which the second byte must lie; it excludes overlong forms, surrogates and what is
/// beyond the last code point.
bool may_follow(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second < 0xa0;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second < 0x90;
    default:
      return true;
  }
}

}  // namespace

std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  if (first < 0xc2 || first >= 0xf5) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  const std::string_view rest = text.substr(1, length - 1);
  if (!std::all_of(rest.begin(), rest.end(), is_continuation)) return 0;
  return may_follow(first, static_cast<unsigned char>(rest.front())) ? length : 0;
}

}  // namespace tw
