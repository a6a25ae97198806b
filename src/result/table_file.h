// SPDX-License-Identifier: Apache-2.0
// One table of a run folder while it is being written: a header, then rows that fit the columns.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/result/schema.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tw::result {

/// A value of a row; a default one is an empty field: there is no value.
class Cell {
 public:
  Cell() = default;
  template <std::integral T>
  Cell(T value) : value_(in_64_bits(value)) {}
  /// What is not finite is no value.
  Cell(double value) : value_(value) {}
  Cell(std::string_view text) : value_(text) {}
  Cell(const std::string& text) : value_(std::string_view(text)) {}
  Cell(const char* text) : value_(std::string_view(text)) {}

  bool fits(Type type) const;
  void append_to(std::string& text) const;

 private:
  template <std::integral T>
  static auto in_64_bits(T value) {
    if constexpr (std::signed_integral<T>) {
      return static_cast<std::int64_t>(value);
    } else {
      return static_cast<std::uint64_t>(value);
    }
  }

  std::variant<std::monostate, std::int64_t, std::uint64_t, double, std::string_view> value_;
};

/// The first cells of a row, ready to be written: for many rows that begin alike.
struct RowBeginning {
  std::string text;
  std::size_t cells;
};

class TableFile {
 public:
  /// Creates `path` and writes the header. Throws SystemError.
  TableFile(const Table& table, std::string path);

  /// REQUIRES: as many cells as columns, each of its column's type or empty. Throws SystemError.
  void row(std::initializer_list<Cell> cells) { row(RowBeginning{}, cells); }
  void row(std::span<const Cell> cells);
  /// The same; `cells` are those after the beginning's.
  void row(const RowBeginning& beginning, std::initializer_list<Cell> cells);
  /// REQUIRES: each cell is of its column's type or empty.
  RowBeginning beginning(std::initializer_list<Cell> cells) const;
  std::int64_t rows() const { return rows_; }
  /// Whether column `i` has that name.
  bool is_column(std::size_t i, std::string_view name) const {
    return i < table_->columns.size() && table_->columns[i].name == name;
  }
  /// Everything is stored afterwards; the last call. Throws SystemError.
  void close();

 private:
  void append(std::string& text, std::size_t column, std::span<const Cell> cells) const;
  void write(const RowBeginning& beginning, std::span<const Cell> cells);
  void flush();

  const Table* table_;
  std::string path_;
  os::FileDescriptor file_;
  std::string pending_;
  std::int64_t rows_ = 0;
};

}  // namespace tw::result
