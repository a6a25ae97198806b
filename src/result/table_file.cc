// SPDX-License-Identifier: Apache-2.0
#include "trainwire/result/table_file.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/result/csv.h"
#include "trainwire/result/remedy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <iterator>
#include <span>

namespace tw::result {
namespace {

constexpr std::size_t kFlushBytes = 1 << 18;

struct Appender {
  std::string& text;
  void operator()(std::monostate) const {}
  void operator()(std::int64_t value) const { append(fmt::format_int(value)); }
  void operator()(std::uint64_t value) const { append(fmt::format_int(value)); }
  void operator()(double value) const {
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(text), "{}", value);
  }
  void operator()(std::string_view value) const { append_csv(text, value); }

 private:
  void append(const fmt::format_int& number) const { text.append(number.data(), number.size()); }
};

}  // namespace

bool Cell::fits(Type type) const {
  if (std::holds_alternative<std::monostate>(value_)) return true;
  if (std::holds_alternative<std::string_view>(value_)) return type == Type::Text;
  if (std::holds_alternative<double>(value_)) return type == Type::Real;
  return type == Type::Integer;
}

void Cell::append_to(std::string& text) const { std::visit(Appender{text}, value_); }

TableFile::TableFile(const Table& table, std::string path)
    : table_(&table),
      path_(std::move(path)),
      file_(with_remedy([this] { return os::open_in_place(path_); })) {
  for (const Column& column : table_->columns) {
    if (!pending_.empty()) pending_ += ',';
    pending_ += column.name;
  }
  pending_ += '\n';
}

void TableFile::row(std::span<const Cell> cells) { write(RowBeginning{}, cells); }

void TableFile::row(const RowBeginning& beginning, std::initializer_list<Cell> cells) {
  write(beginning, std::span(cells.begin(), cells.size()));
}

void TableFile::write(const RowBeginning& beginning, std::span<const Cell> cells) {
  check(beginning.cells + cells.size() == table_->columns.size(),
        "a row has a cell for each column");
  pending_ += beginning.text;
  append(pending_, beginning.cells, cells);
  pending_ += '\n';
  ++rows_;
  if (pending_.size() >= kFlushBytes) flush();
}

RowBeginning TableFile::beginning(std::initializer_list<Cell> cells) const {
  check(cells.size() <= table_->columns.size(), "a row has a cell for each column");
  RowBeginning result{.text = {}, .cells = cells.size()};
  append(result.text, 0, std::span(cells.begin(), cells.size()));
  return result;
}

void TableFile::append(std::string& text, std::size_t column, std::span<const Cell> cells) const {
  for (const Cell& cell : cells) {
    check(cell.fits(table_->columns[column].type), "a cell is of its column's type");
    if (column++ > 0) text += ',';
    cell.append_to(text);
  }
}

void TableFile::close() {
  flush();
  with_remedy([this] {
    if (::fsync(file_.get()) != 0) throw os::errno_error(fmt::format("writing {}", path_), errno);
    file_.close(path_);
  });
}

void TableFile::flush() {
  with_remedy([this] { os::write_all(file_, std::as_bytes(std::span(pending_)), path_); });
  pending_.clear();
}

}  // namespace tw::result
