// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/table_reader.h"

#include <algorithm>
#include <filesystem>

namespace tw::report {
namespace {

/// Takes one field off `rest`, with what ends it; false when it was the row's last.
bool take_field(std::string_view& rest, std::string& field) {
  field.clear();
  bool quoted = false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == '"') {
      if (quoted && i + 1 < rest.size() && rest[i + 1] == '"') {
        field += rest[i++];
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      rest.remove_prefix(i + 1);
      return true;
    } else {
      field += c;
    }
  }
  rest = {};
  return false;
}

void split(std::string_view line, std::vector<std::string>& fields) {
  std::size_t count = 0;
  bool more = true;
  while (more) {
    if (fields.size() == count) fields.emplace_back();
    more = take_field(line, fields[count++]);
  }
  fields.resize(count);
}

constexpr std::size_t kMostRecord = std::size_t{1} << 20;

bool has_open_quote(std::string_view text) {
  return std::count(text.begin(), text.end(), '"') % 2 != 0;
}

}  // namespace

std::ifstream open_table(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return std::ifstream(path);
}

TableReader::TableReader(std::istream& in) : in_(&in) { read_record(header_); }

bool TableReader::read_record(std::vector<std::string>& fields) {
  if (!std::getline(*in_, line_)) return false;
  // A quoted field may hold line ends; then the quotes are not yet balanced.
  std::string more;
  bool open = has_open_quote(line_);
  while (open && line_.size() < kMostRecord && std::getline(*in_, more)) {
    line_ += '\n';
    line_ += more;
    open = open != has_open_quote(more);
  }
  is_cut_off_ = in_->eof();
  if (line_.ends_with('\r')) line_.pop_back();
  split(line_, fields);
  return true;
}

std::optional<std::size_t> TableReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return {};
  return static_cast<std::size_t>(found - header_.begin());
}

bool TableReader::next() {
  while (read_record(row_)) {
    if (row_.size() == header_.size() && !is_cut_off_) return true;
    if (!line_.empty()) ++skipped_;
  }
  return false;
}

std::string_view TableReader::text(std::optional<std::size_t> column) const {
  return column ? std::string_view(row_[*column]) : std::string_view();
}

std::optional<double> TableReader::number(std::optional<std::size_t> column) const {
  return parsed<double>(text(column));
}

std::optional<std::int64_t> TableReader::integer(std::optional<std::size_t> column) const {
  return parsed<std::int64_t>(text(column));
}

std::optional<std::int64_t> TableReader::time_ns(std::optional<std::size_t> column) const {
  const auto value = integer(column);
  if (!value || *value < 0 || *value > INT64_MAX / 4) return {};
  return value;
}

}  // namespace tw::report
