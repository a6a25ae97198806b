// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/csv.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

namespace tw::result {
namespace {

using Row = std::vector<std::string>;

/// Reads one field and what ends it.
class FieldReader {
 public:
  FieldReader(std::string_view text, std::string_view name) : rest_(text), name_(name) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  bool at_end() const { return rest_.empty(); }

  /// True when another field follows on the same row.
  bool read(std::string& field) {
    field = rest_.starts_with('"') ? quoted() : std::string();
    const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    field += rest_.substr(0, end);
    const bool more = end < rest_.size() && rest_[end] == ',';
    if (!more && field.ends_with('\r')) field.pop_back();
    if (end < rest_.size() && !more) ++line_;
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return more;
  }

 private:
  std::string quoted() {
    const int begun = line_;
    std::string field;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '\n') ++line_;
      if (rest_[i] == '"') {
        if (i + 1 == rest_.size() || rest_[i + 1] != '"') {
          rest_.remove_prefix(i + 1);
          return field;
        }
        ++i;
      }
      field += rest_[i];
    }
    throw DataError(fmt::format("reading {}: line {}: a quoted field does not end", name_, begun));
  }

  std::string_view rest_;
  std::string_view name_;
  int line_ = 1;
};

}  // namespace

void append_csv(std::string& text, std::string_view field) {
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

std::vector<Row> parse_csv(std::string_view text, std::string_view name) {
  std::vector<Row> rows;
  FieldReader in(text, name);
  while (!in.at_end()) {
    Row row;
    bool more = true;
    while (more) more = in.read(row.emplace_back());
    if (row.size() > 1 || !row.front().empty()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tw::result
