// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/text_tables.h"

#include "trainwire/result/csv.h"

#include <fmt/format.h>

#include <iterator>

namespace tw::exports {
namespace {

using result::Type;

class CsvWriter : public TableWriter {
 public:
  CsvWriter(result::OutputFolder& folder, const timeline::TableSource& table)
      : file_(folder, table.name + ".csv", "csv") {
    for (const result::Column& column : table.columns) add(column.name);
    end_row();
  }

  void row(std::span<const timeline::Cell> cells) override {
    for (const timeline::Cell& cell : cells) add(cell.has_value ? cell.text : std::string_view());
    end_row();
  }
  void finish(std::int64_t rows) override { file_.put(rows); }

 private:
  void add(std::string_view field) {
    result::append_csv(line_, field);
    line_ += ',';
  }
  void end_row() {
    line_.back() = '\n';
    file_.write(line_);
    line_.clear();
  }

  result::OutputFile file_;
  std::string line_;
};

class JsonLinesWriter : public TableWriter {
 public:
  JsonLinesWriter(result::OutputFolder& folder, const timeline::TableSource& table)
      : file_(folder, table.name + ".jsonl", "json") {
    for (const result::Column& column : table.columns) {
      std::string key;
      append_json(key, column.name);
      columns_.push_back({.key = key + ':', .type = column.type});
    }
  }

  void row(std::span<const timeline::Cell> cells) override {
    line_ = '{';
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line_ += columns_[i].key;
      append(cells[i], columns_[i].type);
      line_ += ',';
    }
    line_.back() = '}';
    line_ += '\n';
    file_.write(line_);
  }
  void finish(std::int64_t rows) override { file_.put(rows); }

 private:
  struct Named {
    std::string key;
    Type type;
  };

  void append(const timeline::Cell& cell, Type type) {
    if (!cell.has_value) {
      line_ += "null";
    } else if (type == Type::Text) {
      append_json(line_, cell.text);
    } else if (type == Type::Integer) {
      fmt::format_to(std::back_inserter(line_), "{}", cell.integer);
    } else {
      const std::size_t start = line_.size();
      fmt::format_to(std::back_inserter(line_), "{}", cell.real);
      // Readers that guess types take a number without a point for an integer.
      if (line_.find_first_of(".e", start) == line_.npos) line_ += ".0";
    }
  }

  result::OutputFile file_;
  std::vector<Named> columns_;
  std::string line_;
};

}  // namespace

void append_json(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      line += '\\';
      line += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(line), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      line += c;
    }
  }
  line += '"';
}

std::unique_ptr<TableWriter> csv_writer(result::OutputFolder& folder,
                                        const timeline::TableSource& table) {
  return std::make_unique<CsvWriter>(folder, table);
}

std::unique_ptr<TableWriter> json_lines_writer(result::OutputFolder& folder,
                                               const timeline::TableSource& table) {
  return std::make_unique<JsonLinesWriter>(folder, table);
}

}  // namespace tw::exports
