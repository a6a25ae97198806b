// SPDX-License-Identifier: Apache-2.0
// The rows of a table, each field checked against its column's type.
//
// An empty field has no value. A column that the file does not have (an older run) has none in any
// row; one that the schema does not have is left out. A row of another number of fields than the
// header (the last of a run that was killed) is left out. Each of these is told by notes().

#pragma once

#include "trainwire/result/table_reader.h"
#include "trainwire/timeline/source.h"

#include <memory>
#include <span>

namespace tw::timeline {

/// One field: nothing, or a value of its column's type. `text` is the field as it was written, or
/// what cleaned() makes of it. Valid until the next row.
struct Cell {
  bool has_value = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
};

class Rows {
 public:
  /// REQUIRES: `table` outlives the reader.
  explicit Rows(const timeline::TableSource& table);

  /// Goes to the next row; false at the end. Throws DataError when a field is not of its column's
  /// type, SystemError when a file cannot be read.
  bool next();
  std::span<const Cell> cells() const { return cells_; }

  std::int64_t count() const { return count_; }
  /// What was left out or replaced so far, a sentence each.
  std::vector<std::string> notes() const;

 private:
  bool open_next_part();
  void close_part();
  void note_header();
  void take(std::size_t column, std::string_view text);
  [[noreturn]] void fail(std::size_t column, std::string_view text) const;

  const timeline::TableSource* table_;
  std::size_t part_ = 0;  ///< the next to open
  std::unique_ptr<std::istream> file_;
  std::optional<result::TableReader> reader_;
  std::vector<std::optional<std::size_t>> places_;  ///< of our columns in the file's rows
  std::int64_t part_rows_ = 0;
  std::int64_t count_ = 0;
  std::size_t replaced_ = 0;
  std::vector<std::string> notes_;
  std::vector<Cell> cells_;
  std::vector<std::string> clean_;  ///< texts of the present row that had to be cleaned
};

}  // namespace tw::timeline
