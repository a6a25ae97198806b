// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/csv.h"

#include "trainwire/base/error.h"
#include "trainwire/base/name.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::result {
namespace {

using Row = std::vector<std::string>;

/// Takes the quoted part that `rest` begins with; false when it does not end.
bool take_quoted(std::string_view& rest, std::string& field) {
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      if (i + 1 == rest.size() || rest[i + 1] != '"') {
        rest.remove_prefix(i + 1);
        return true;
      }
      ++i;
    }
    field += rest[i];
  }
  rest = {};
  return false;
}

/// Apostrophes, and then a formula: what append_csv puts one more before.
bool is_guarded(std::string_view field) {
  const std::size_t start = std::min(field.find_first_not_of('\''), field.size());
  return is_formula(field.substr(start));
}

void append_quoted(std::string& text, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == field.npos) {
    text += field;
    return;
  }
  text += '"';
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

}  // namespace

void append_csv(std::string& text, std::string_view field) {
  if (!is_guarded(field)) return append_quoted(text, field);
  std::string guarded = "'";
  append_quoted(text, guarded.append(field));
}

FieldEnd take_field(std::string_view& rest, std::string& field) {
  field.clear();
  if (rest.starts_with('"') && !take_quoted(rest, field)) return FieldEnd::OpenQuote;
  const std::size_t end = std::min(rest.find_first_of(",\n"), rest.size());
  field += rest.substr(0, end);
  const bool more = end < rest.size() && rest[end] == ',';
  if (!more && field.ends_with('\r')) field.pop_back();
  if (field.starts_with('\'') && is_guarded(field)) field.erase(0, 1);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return more ? FieldEnd::Comma : FieldEnd::Row;
}

void split_row(std::string_view row, std::vector<std::string>& fields) {
  std::size_t count = 0;
  bool more = true;
  while (more) {
    if (fields.size() == count) fields.emplace_back();
    more = take_field(row, fields[count++]) == FieldEnd::Comma;
  }
  fields.resize(count);
}

std::vector<Row> parse_csv(std::string_view text, std::string_view name) {
  std::vector<Row> rows;
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  while (!rest.empty()) {
    Row row;
    FieldEnd end = FieldEnd::Comma;
    while (end == FieldEnd::Comma) {
      const auto begun = text.end() - static_cast<std::ptrdiff_t>(rest.size());
      end = take_field(rest, row.emplace_back());
      if (end != FieldEnd::OpenQuote) continue;
      throw DataError(fmt::format("reading {}: line {}: a quoted field does not end", name,
                                  1 + std::count(text.begin(), begun, '\n')));
    }
    if (row.size() > 1 || !row.front().empty()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tw::result
