// SPDX-License-Identifier: Apache-2.0
// Names that people give to things: the one door through which they come in.
//
// A name ends up in paths, on pages, in scripts and in cells of tables that spreadsheets open. Each
// of those places protects itself too; but what no honest name needs is refused where it is given,
// with words, and not discovered there.

#pragma once

#include <string>
#include <string_view>

namespace tw {

/// Why `name` is none, as the end of a sentence, with what to do; "" when it is fine. A name is 1 to
/// 120 bytes of UTF-8 without control characters, slashes and backslashes; it is not "." or "..",
/// and does not begin with what begins a formula (= + - @).
std::string name_problem(std::string_view name);

/// Whether a spreadsheet would calculate with a cell of this text instead of showing it. Numbers are
/// none.
bool is_formula(std::string_view text);

}  // namespace tw
