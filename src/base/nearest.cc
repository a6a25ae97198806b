// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace tw {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool begins(std::string_view text, std::string_view prefix) {
  return prefix.size() >= 3 && text.starts_with(prefix);
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  // Rows i-2, i-1 and i of the dynamic programme.
  std::vector<int> before(width), above(width), row(width);
  for (std::size_t j = 0; j < width; ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < width; ++j) {
      const char x = lower(a[i - 1]);
      const char y = lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> known) {
  std::optional<std::string_view> best;
  int best_distance = std::max(2, static_cast<int>(name.size()) / 3) + 1;
  if (name.size() <= 3) best_distance = 2;
  for (const std::string_view candidate : known) {
    int distance = edit_distance(name, candidate);
    if (begins(candidate, name) || begins(name, candidate)) distance = std::min(distance, 2);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace tw
