// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known name closest to a misspelt one.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tw {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (Damerau 1964, optimal string alignment), letter case ignored.
int edit_distance(std::string_view a, std::string_view b);

/// The known name nearest to `name`, or nothing when even the nearest shares too little with it
/// (more than a third of its letters, and more than two, or more than one of three, would have to
/// change). A name that `name` begins or that begins `name` counts as near.
std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> known);

}  // namespace tw
