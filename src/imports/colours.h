// SPDX-License-Identifier: Apache-2.0
// What terminals take for colours ("\x1b[36m", "\x1b[0m") in logs that were kept as they were shown.

#pragma once

#include <string>
#include <string_view>

namespace tw::imports {

/// A line without them; `kept` holds it where there were any.
inline std::string_view without_colours(std::string_view line, std::string& kept) {
  if (line.find('\x1b') == std::string_view::npos) return line;
  kept.clear();
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b') {
      kept += line[at];
      continue;
    }
    if (at + 1 >= line.size() || line[at + 1] != '[') continue;
    at = line.find_first_not_of("0123456789;?", at + 2);
    if (at == std::string_view::npos) break;
  }
  return kept;
}

}  // namespace tw::imports
