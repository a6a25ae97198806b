// SPDX-License-Identifier: Apache-2.0
// Text for a terminal: made harmless, measured, wrapped, drawn small.
//
// Names come from captures and files of others; a terminal must not obey them. Widths count
// characters (code points), not bytes.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// `text` with control characters and bytes that are no UTF-8 written as \xNN.
std::string printable(std::string_view text);

/// Characters of a UTF-8 text.
std::size_t width_of(std::string_view text);
/// At most `width` characters, the last a "…" when something was cut off. REQUIRES: width >= 1.
std::string cut(std::string_view text, std::size_t width);
/// Lines of at most `width` characters, broken at blanks, or anywhere in a word that is longer.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// One block character a value, higher for larger; at most `width` of them, each then the largest
/// of its share. The scale reaches from the smallest value to twice the median or the largest.
std::string sparkline(std::span<const double> values, std::size_t width);

}  // namespace tw
