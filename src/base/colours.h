// SPDX-License-Identifier: Apache-2.0
// What terminals take for colours ("\x1b[36m", "\x1b[0m") in logs that were kept as they were shown; also without the first
// character, which pages and clipboards drop.

#pragma once

#include <string>
#include <string_view>

namespace tw {

/// Length of "[36m" or "[38;2;180;60;0m" at the beginning; 0 where there is none.
inline std::size_t bare_colour(std::string_view text) {
  if (text.size() < 3 || text[0] != '[' || text[1] < '0' || text[1] > '9') return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 1);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

/// A line without them; `kept` holds it where there were any.
inline std::string_view without_colours(std::string_view line, std::string& kept) {
  bool has_any = line.find('\x1b') != std::string_view::npos;
  for (std::size_t at = line.find('['); !has_any && at != std::string_view::npos;
       at = line.find('[', at + 1)) {
    has_any = bare_colour(line.substr(at)) > 0;
  }
  if (!has_any) return line;
  kept.clear();
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b') {
      const std::size_t bare = bare_colour(line.substr(at));
      if (bare > 0) {
        at += bare - 1;
      } else {
        kept += line[at];
      }
      continue;
    }
    if (at + 1 >= line.size() || line[at + 1] != '[') continue;
    at = line.find_first_not_of("0123456789;?", at + 2);
    if (at == std::string_view::npos) break;
  }
  return kept;
}

}  // namespace tw
