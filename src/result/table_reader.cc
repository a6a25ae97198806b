// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/table_reader.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/result/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace tw::result {
namespace {

constexpr std::size_t kMostRecord = std::size_t{1} << 20;

bool has_open_quote(std::string_view text) {
  return std::count(text.begin(), text.end(), '"') % 2 != 0;
}

}  // namespace

std::ifstream open_table(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored))) return {};
  return open_if_there(path);
}

std::ifstream open_if_there(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file.is_open() && errno != ENOENT)
    throw os::errno_error(fmt::format("reading {}", path), errno);
  return file;
}

void require_read(const std::ifstream& file, const std::string& path) {
  if (file.bad()) throw os::errno_error(fmt::format("reading {}", path), EIO);
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
  split_row(line_, fields);
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

}  // namespace tw::result
