// SPDX-License-Identifier: Apache-2.0
// A table of a run folder, row by row, so that a table of any length takes no memory.
//
// A run that was killed leaves a last row that is cut off; rows with another number of fields than
// the header are passed over and counted.

#pragma once

#include <charconv>
#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::result {

/// The number that a field is, all of it.
template <typename T>
std::optional<T> parsed(std::string_view field) {
  T value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) return {};
  return value;
}

/// The file at `path`; not open when there is none, when it is a pipe, for which one would wait, or a
/// link: a folder from somebody else must not publish what lies outside of it. Throws SystemError
/// when it is there and cannot be read.
std::ifstream open_table(const std::string& path);

/// The file at `path`; not open when there is none. Throws SystemError when it cannot be read:
/// that is not the same as an empty one.
std::ifstream open_if_there(const std::string& path);
/// To be called at the end of a file. Throws SystemError when reading, not the file, ended there.
void require_read(const std::ifstream& file, const std::string& path);

class TableReader {
 public:
  /// Reads the header. REQUIRES: `in` outlives the reader.
  explicit TableReader(std::istream& in);

  /// The place of a column in a row; nothing when the table has none of that name.
  std::optional<std::size_t> column(std::string_view name) const;
  const std::vector<std::string>& header() const { return header_; }

  /// Goes to the next whole row; false at the end.
  bool next();
  const std::vector<std::string>& row() const { return row_; }
  std::size_t skipped() const { return skipped_; }

  /// Fields of the present row; a column that is not there is empty, like a field without a value.
  std::string_view text(std::optional<std::size_t> column) const;
  std::optional<double> number(std::optional<std::size_t> column) const;
  std::optional<std::int64_t> integer(std::optional<std::size_t> column) const;
  /// Nanoseconds that sums and differences of a few cannot overflow: 0 to 73 years, or since 1970.
  std::optional<std::int64_t> time_ns(std::optional<std::size_t> column) const;

 private:
  bool read_record(std::vector<std::string>& fields);

  std::istream* in_;
  std::string line_;
  std::vector<std::string> header_;
  std::vector<std::string> row_;
  std::size_t skipped_ = 0;
  bool is_cut_off_ =
      false;  ///< the row has no line end, which ours have: its last field may be cut
};

}  // namespace tw::result
