// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/rows.h"

#include "trainwire/base/clean_text.h"
#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace tw::timeline {
namespace {

using result::Type;

std::unique_ptr<std::istream> opened(const timeline::Part& part) {
  if (part.content) return std::make_unique<std::istringstream>(*part.content);
  auto file = std::make_unique<std::ifstream>(result::open_table(part.path));
  if (!file->is_open()) {
    throw SystemError(fmt::format("opening {}: it cannot be read; its owner may", part.path));
  }
  return file;
}

std::string_view kind_of(Type type) {
  return type == Type::Integer ? "whole number of 64 bits" : "number";
}

}  // namespace

Rows::Rows(const timeline::TableSource& table)
    : table_(&table), cells_(table.columns.size()), clean_(table.columns.size()) {}

bool Rows::open_next_part() {
  if (part_ == table_->parts.size()) return false;
  const timeline::Part& part = table_->parts[part_++];
  file_ = opened(part);
  reader_.emplace(*file_);
  part_rows_ = 0;
  places_.clear();
  for (const result::Column& column : table_->columns) {
    places_.push_back(reader_->column(column.name));
  }
  note_header();
  return true;
}

void Rows::note_header() {
  const timeline::Part& part = table_->parts[part_ - 1];
  std::vector<std::string> missing;
  for (std::size_t i = table_->has_point ? 1 : 0; i < places_.size(); ++i) {
    if (!places_[i]) missing.emplace_back(table_->columns[i].name);
  }
  const std::size_t own = places_.size() - (table_->has_point ? 1 : 0);
  if (missing.size() == own) {
    throw DataError(
        fmt::format("reading {}: its first line names no column of table {}; see "
                    "`trainwire schema {}`",
                    part.path, table_->name, table_->name));
  }
  const auto add = [&](const std::string& note) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  };
  for (const std::string& name : missing) {
    add(fmt::format("{}.csv: column {} is not there; it is empty", table_->name, name));
  }
  for (const std::string& name : reader_->header()) {
    const auto known = [&](const result::Column& column) { return column.name == name; };
    if (std::none_of(table_->columns.begin(), table_->columns.end(), known)) {
      add(fmt::format("{}.csv: column {} is not known; it is left out", table_->name, name));
    }
  }
}

void Rows::close_part() {
  const timeline::Part& part = table_->parts[part_ - 1];
  if (file_->bad()) throw SystemError(fmt::format("reading {}: it broke off", part.path));
  if (reader_->skipped() > 0) {
    notes_.push_back(fmt::format("{}: {} row{} not whole and left out", part.path,
                                 reader_->skipped(), reader_->skipped() == 1 ? " is" : "s are"));
  }
  if (part.recorded_rows && *part.recorded_rows != part_rows_) {
    notes_.push_back(fmt::format("{}: {} whole rows, but run.json counted {}", part.path,
                                 part_rows_, *part.recorded_rows));
  }
  reader_.reset();
  file_.reset();
}

void Rows::fail(std::size_t column, std::string_view text) const {
  const result::Column& wanted = table_->columns[column];
  throw DataError(fmt::format(
      "reading {}: row {}, column {}: \"{}\" is no {}; repair the table or take it away",
      table_->parts[part_ - 1].path, part_rows_ + 1, wanted.name, cleaned(text.substr(0, 40)),
      kind_of(wanted.type)));
}

void Rows::take(std::size_t column, std::string_view text) {
  Cell& cell = cells_[column];
  cell.text = text;
  cell.has_value = !text.empty();
  if (text.empty()) return;
  switch (table_->columns[column].type) {
    case Type::Integer: {
      const auto value = result::parsed<std::int64_t>(text);
      if (!value) fail(column, text);
      cell.integer = *value;
      return;
    }
    case Type::Real: {
      const auto value = result::parsed<double>(text);
      if (!value) fail(column, text);
      cell.real = *value;
      // As where tables are written: what is not finite is no value.
      if (!std::isfinite(*value)) cell = {};
      return;
    }
    case Type::Text:
      if (is_clean(text)) return;
      ++replaced_;
      clean_[column] = cleaned(text);
      cell.text = clean_[column];
      return;
  }
}

bool Rows::next() {
  while (true) {
    if (!reader_ && !open_next_part()) return false;
    if (reader_->next()) break;
    close_part();
  }
  for (std::size_t i = 0; i < places_.size(); ++i) take(i, reader_->text(places_[i]));
  if (table_->has_point) {
    const timeline::Part& part = table_->parts[part_ - 1];
    // The table of points is one file for all of them; there the folder is a column.
    take(0, part.point.empty() ? cells_[1].text : std::string_view(part.point));
  }
  ++part_rows_;
  ++count_;
  return true;
}

std::vector<std::string> Rows::notes() const {
  std::vector<std::string> all = notes_;
  if (replaced_ > 0) {
    all.push_back(fmt::format("{}.csv: bytes that are no text (UTF-8) were replaced in {} field{}",
                              table_->name, replaced_, replaced_ == 1 ? "" : "s"));
  }
  return all;
}

}  // namespace tw::timeline
