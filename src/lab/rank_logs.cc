// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/rank_logs.h"

#include "trainwire/result/csv.h"
#include "trainwire/result/table_reader.h"

#include <filesystem>
#include <fstream>
#include <utility>

namespace tw::lab {
namespace {

using record::PhaseRow;

using Fields = std::vector<std::string>;

std::int64_t number(const std::string& text) {
  return result::parsed<std::int64_t>(text).value_or(0);
}

/// Calls `take` with the fields of every whole line.
template <typename Take>
void for_each_line(const std::string& path, std::size_t columns, Take take) {
  Fields fields;
  std::ifstream file = result::open_if_there(path);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    result::split_row(line, fields);
    if (fields.size() == columns) take(fields);
  }
  result::require_read(file, path);
}

}  // namespace

std::vector<PhaseRow> read_phases(const TrainingJob& job) {
  std::vector<PhaseRow> rows;
  for (const trainer::Task& task : job.tasks) {
    std::ifstream file = result::open_if_there(task.log);
    record::read_phase_lines(file, task.rank, rows);
    result::require_read(file, task.log);
  }
  return rows;
}

void write_sockets(const TrainingJob& job, record::RunFolder& into) {
  result::TableFile& table = into.table("sockets");
  for (const trainer::Task& task : job.tasks) {
    for_each_line(task.sockets, 8, [&](const Fields& fields) {
      table.row({number(fields[0]), job.name, task.rank, number(fields[1]), number(fields[2]),
                 number(fields[3]), number(fields[4]), number(fields[5]), number(fields[6]),
                 number(fields[7])});
    });
  }
}

void write_transfers(const TrainingJob& job, record::RunFolder& into) {
  for (const trainer::Task& task : job.tasks) {
    if (task.transfers.empty()) continue;
    result::TableFile& table = into.table("transfers");
    for_each_line(task.transfers, 10, [&](const Fields& fields) {
      const std::int64_t bucket = number(fields[1]);
      table.row({job.name, task.rank, number(fields[0]),
                 bucket >= 0 ? result::Cell(bucket) : result::Cell(), number(fields[2]),
                 number(fields[3]), number(fields[4]), number(fields[5]), number(fields[6]),
                 number(fields[7]), fields[8], number(fields[9])});
    });
  }
}

void remove_rank_files(const TrainingJob& job) {
  std::error_code ignored;
  for (const trainer::Task& task : job.tasks) {
    for (const std::string& file : {task.log, task.sockets, task.transfers}) {
      std::filesystem::remove(file, ignored);
    }
  }
}

}  // namespace tw::lab
