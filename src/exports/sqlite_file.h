// SPDX-License-Identifier: Apache-2.0
// All tables in one SQLite file, run.sqlite, with two more: `run`, the facts of run.json by their
// path, and `columns`, what each column of each table means. Of a sweep, `run` has the facts of
// every point, and those of the sweep itself with no point.

#pragma once

#include "trainwire/exports/table_writer.h"
#include "trainwire/result/output_folder.h"

#include <memory>

struct sqlite3;

namespace tw::exports {

/// Written in one transaction without a journal: it is put in place whole or not at all.
class SqliteFile {
 public:
  /// Throws SystemError. REQUIRES: both outlive the file.
  SqliteFile(result::OutputFolder& folder, const timeline::Source& source);
  ~SqliteFile();

  /// The writer of one table of the source. REQUIRES: one at a time; the file outlives it.
  std::unique_ptr<TableWriter> table_writer(const timeline::TableSource& table);
  /// The last call. Throws SystemError.
  void put();

 private:
  void write_columns(const timeline::Source& source);
  void write_facts(const timeline::Source& source);

  result::OutputFolder* folder_;
  std::string path_;
  result::RemovedAtEnd guard_;
  sqlite3* database_ = nullptr;
  std::int64_t rows_ = 0;  ///< of the source's tables

  friend class SqliteTableWriter;
};

}  // namespace tw::exports
