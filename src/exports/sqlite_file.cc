// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/sqlite_file.h"

#include "trainwire/base/clean_text.h"
#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace tw::exports {
namespace {

using nlohmann::ordered_json;
using result::Type;

constexpr const char* kName = "run.sqlite";

[[noreturn]] void fail(sqlite3* database, const std::string& path) {
  throw SystemError(
      fmt::format("writing {}: {}; make room or permit it, or choose another place with --out",
                  path, database ? sqlite3_errmsg(database) : "SQLite has no memory"));
}

void execute(sqlite3* database, const std::string& path, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(database, path);
  }
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::string_view sql_type(Type type) {
  static constexpr std::array<std::string_view, 3> kTypes{"INTEGER", "REAL", "TEXT"};
  return kTypes[static_cast<std::size_t>(type)];
}

/// A prepared INSERT.
class Insert {
 public:
  Insert(sqlite3* database, std::string path, std::string_view table, std::size_t columns)
      : database_(database), path_(std::move(path)) {
    const std::vector<char> marks(columns, '?');
    const std::string sql =
        fmt::format("INSERT INTO {} VALUES ({})", quoted_name(table), fmt::join(marks, ","));
    if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
      fail(database, path_);
    }
  }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;
  ~Insert() { sqlite3_finalize(statement_); }

  void null(int place) { sqlite3_bind_null(statement_, place); }
  void integer(int place, std::int64_t value) { sqlite3_bind_int64(statement_, place, value); }
  void real(int place, double value) { sqlite3_bind_double(statement_, place, value); }
  /// REQUIRES: `value` lives until step().
  void text(int place, std::string_view value) {
    sqlite3_bind_text64(statement_, place, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  void step() {
    if (sqlite3_step(statement_) != SQLITE_DONE) fail(database_, path_);
    sqlite3_reset(statement_);
  }

 private:
  sqlite3* database_;
  std::string path_;
  sqlite3_stmt* statement_ = nullptr;
};

struct Fact {
  std::string key;
  ordered_json value;
};

bool is_leaf(const ordered_json& value) {
  if (!value.is_structured() || value.empty()) return true;
  if (!value.is_array()) return false;
  for (const ordered_json& each : value) {
    if (each.is_structured()) return false;
  }
  return true;  // a list of plain values is one fact
}

void collect(const ordered_json& value, const std::string& key, std::vector<Fact>& facts) {
  if (is_leaf(value)) {
    facts.push_back({key, value});
    return;
  }
  std::size_t index = 0;
  for (auto each = value.begin(); each != value.end(); ++each, ++index) {
    const std::string name = value.is_object() ? each.key() : std::to_string(index);
    collect(*each, key.empty() ? name : fmt::format("{}.{}", key, name), facts);
  }
}

void insert_fact(Insert& insert, int place, const std::string& point, const Fact& fact) {
  if (place == 2 && point.empty()) insert.null(1);
  if (place == 2 && !point.empty()) insert.text(1, point);
  const std::string key = cleaned(fact.key);
  insert.text(place, key);
  const ordered_json& value = fact.value;
  std::string text;
  if (value.is_null()) {
    insert.null(place + 1);
  } else if (value.is_boolean() || value.is_number_integer()) {
    insert.integer(place + 1, value.is_boolean() ? value.get<bool>() : value.get<std::int64_t>());
  } else if (value.is_number()) {
    insert.real(place + 1, value.get<double>());
  } else {
    text = value.is_string() ? cleaned(value.get_ref<const std::string&>())
                             : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    insert.text(place + 1, text);
  }
  insert.step();
}

}  // namespace

class SqliteTableWriter : public TableWriter {
 public:
  SqliteTableWriter(SqliteFile& file, const timeline::TableSource& table)
      : file_(&file),
        table_(&table),
        insert_(file.database_, file.path_, table.name, table.columns.size()) {}

  void row(std::span<const timeline::Cell> cells) override {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const int place = static_cast<int>(i) + 1;
      const timeline::Cell& cell = cells[i];
      const Type type = table_->columns[i].type;
      if (!cell.has_value) {
        insert_.null(place);
      } else if (type == Type::Integer) {
        insert_.integer(place, cell.integer);
      } else if (type == Type::Real) {
        insert_.real(place, cell.real);
      } else {
        insert_.text(place, cell.text);
      }
    }
    insert_.step();
  }
  void finish(std::int64_t rows) override { file_->rows_ += rows; }

 private:
  SqliteFile* file_;
  const timeline::TableSource* table_;
  Insert insert_;
};

SqliteFile::SqliteFile(result::OutputFolder& folder, const timeline::Source& source)
    : folder_(&folder), path_(folder.temporary(kName)), guard_(path_) {
  ::unlink(path_.c_str());  // of a process that was killed and had our number
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path_.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
    const auto failed = std::exchange(database_, nullptr);
    const std::string reason = failed ? sqlite3_errmsg(failed) : "SQLite has no memory";
    sqlite3_close(failed);
    throw SystemError(
        fmt::format("creating {}: {}; make room or permit it, or choose another place with --out",
                    path_, reason));
  }
  execute(database_, path_, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
  write_columns(source);
  write_facts(source);
}

SqliteFile::~SqliteFile() { sqlite3_close(database_); }

void SqliteFile::write_columns(const timeline::Source& source) {
  execute(database_, path_,
          "CREATE TABLE columns (table_name TEXT, column_name TEXT, type TEXT, unit TEXT, "
          "meaning TEXT)");
  Insert insert(database_, path_, "columns", 5);
  for (const timeline::TableSource& table : source.tables) {
    std::vector<std::string> columns;
    for (const result::Column& column : table.columns) {
      columns.push_back(fmt::format("{} {}", quoted_name(column.name), sql_type(column.type)));
      insert.text(1, table.name);
      insert.text(2, column.name);
      insert.text(3, result::name_of(column.type));
      insert.text(4, column.unit);
      insert.text(5, column.meaning);
      insert.step();
    }
    execute(database_, path_,
            fmt::format("CREATE TABLE {} ({})", quoted_name(table.name), fmt::join(columns, ", ")));
  }
}

void SqliteFile::write_facts(const timeline::Source& source) {
  execute(database_, path_,
          source.is_sweep ? "CREATE TABLE run (point TEXT, key TEXT, value)"
                          : "CREATE TABLE run (key TEXT, value)");
  const int place = source.is_sweep ? 2 : 1;
  Insert insert(database_, path_, "run", static_cast<std::size_t>(place) + 1);
  const auto write = [&](const std::string& point, const ordered_json& document) {
    std::vector<Fact> facts;
    collect(document, "", facts);
    for (const Fact& fact : facts) insert_fact(insert, place, point, fact);
  };
  if (source.is_sweep) write("", record::document_of(source.file));
  for (const timeline::RunPart& run : source.runs) write(run.point, record::document_of(run.file));
}

std::unique_ptr<TableWriter> SqliteFile::table_writer(const timeline::TableSource& table) {
  return std::make_unique<SqliteTableWriter>(*this, table);
}

void SqliteFile::put() {
  execute(database_, path_, "COMMIT");
  if (sqlite3_close(database_) != SQLITE_OK) fail(database_, path_);
  database_ = nullptr;
  folder_->put({.name = kName, .format = "sqlite", .rows = rows_});
}

}  // namespace tw::exports
