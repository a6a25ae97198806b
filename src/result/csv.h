// SPDX-License-Identifier: Apache-2.0
// CSV after RFC 4180, with line feeds alone, as every reader takes it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tw::result {

/// Appends `field`, in quotes when it holds a comma, a quote or a line end. A text that a
/// spreadsheet would calculate with (`is_formula`) gets an apostrophe before it, which says "text"
/// to all of them; readers below take it away again.
void append_csv(std::string& text, std::string_view field);

/// What a field ends with; a quote that stays open reaches to the end of the text.
enum class FieldEnd { Comma, Row, OpenQuote };

/// Takes one field and what ends it off `rest`. The carriage return of a line end is no part of it.
FieldEnd take_field(std::string_view& rest, std::string& field);

/// The fields of one row, into `fields`, whose room is used again.
void split_row(std::string_view row, std::vector<std::string>& fields);

/// The rows of a whole text, the header too; blank lines are left out. A byte-order mark and
/// carriage returns are no part of a field. Throws DataError naming `name` and the line when a
/// quoted field does not end.
std::vector<std::vector<std::string>> parse_csv(std::string_view text, std::string_view name);

}  // namespace tw::result
