// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/rank_logs.h"

#include "trainwire/checkpoint/store.h"
#include "trainwire/result/csv.h"
#include "trainwire/result/table_reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
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

/// The job has gone back to that step, or one of its ranks has.
void forget(JobPhases& phases, std::int64_t begin, std::optional<int> rank) {
  std::erase_if(phases.rows, [&](const PhaseRow& row) {
    return row.step >= begin && (!rank || row.rank == *rank) &&
           row.phase != record::Phase::Broadcast;
  });
}

/// A step from which the job went on is done, although who was lost may not have said so; one of the
/// last group is when all of them say so. Ranks that go their own pace count where they were.
steps::Attendance attendance(const trainer::Task& first, const trainer::Task& last,
                             const std::vector<PhaseRow>& rows) {
  steps::Attendance there;
  for (const PhaseRow& row : rows) {
    const bool counts = row.phase == record::Phase::Step && row.rank < first.training.workers();
    if (counts) ++there[row.step];
  }
  if (first.training.row().draws_peers) return there;
  for (auto& [step, workers] : there) {
    if (step >= last.first_step()) workers = static_cast<std::size_t>(last.training.workers());
  }
  return there;
}

/// Of the ranks of a group.
class Identities {
 public:
  Identities(std::span<const trainer::Task> given, int group) {
    for (const trainer::Task& task : given) {
      if (task.survival.group == group) identities_[task.rank] = task.survival.identity;
    }
  }
  std::int64_t of(std::int64_t rank) const {
    const auto found = identities_.find(rank);
    return found == identities_.end() ? rank : found->second;
  }

 private:
  std::map<std::int64_t, int> identities_;
};

}  // namespace

JobPhases read_phases(std::span<const trainer::Task> given) {
  JobPhases phases;
  int group = 0;
  for (const trainer::Task& task : given) {
    const std::int64_t begin = task.first_step();
    const bool own_pace = task.training.row().draws_peers;
    if (task.survival.group > 0 && (own_pace || task.survival.group > group)) {
      forget(phases, begin, own_pace ? std::optional(task.survival.identity) : std::nullopt);
    }
    group = task.survival.group;
    std::vector<PhaseRow> rows;
    std::ifstream file = result::open_if_there(task.log);
    record::read_phase_lines(file, task.survival.identity, rows);
    result::require_read(file, task.log);
    for (const PhaseRow& row : rows) {
      if (group > 0 && row.step < begin && row.phase != record::Phase::Broadcast) continue;
      phases.rows.push_back(row);
    }
  }
  if (group > 0) phases.attendance = attendance(given.front(), given.back(), phases.rows);
  std::stable_sort(phases.rows.begin(), phases.rows.end(),
                   [](const PhaseRow& a, const PhaseRow& b) { return a.rank < b.rank; });
  return phases;
}

void write_sockets(const std::string& job, std::span<const trainer::Task> given,
                   record::RunFolder& into) {
  result::TableFile& table = into.table("sockets");
  for (const trainer::Task& task : given) {
    const Identities identities(given, task.survival.group);
    for_each_line(task.sockets, 8, [&](const Fields& fields) {
      table.row({number(fields[0]), job, task.survival.identity, identities.of(number(fields[1])),
                 number(fields[2]), number(fields[3]), number(fields[4]), number(fields[5]),
                 number(fields[6]), number(fields[7])});
    });
  }
}

void write_transfers(const std::string& job, std::span<const trainer::Task> given,
                     record::RunFolder& into) {
  for (const trainer::Task& task : given) {
    if (task.transfers.empty()) continue;
    const Identities identities(given, task.survival.group);
    result::TableFile& table = into.table("transfers");
    for_each_line(task.transfers, 10, [&](const Fields& fields) {
      const std::int64_t bucket = number(fields[1]);
      table.row({job, task.survival.identity, number(fields[0]),
                 bucket >= 0 ? result::Cell(bucket) : result::Cell(), number(fields[2]),
                 identities.of(number(fields[3])), identities.of(number(fields[4])),
                 number(fields[5]), number(fields[6]), number(fields[7]), fields[8],
                 number(fields[9])});
    });
  }
}

void remove_rank_files(std::span<const trainer::Task> given) {
  std::error_code ignored;
  for (const trainer::Task& task : given) {
    for (const std::string& file : {task.log, task.sockets, task.transfers}) {
      std::filesystem::remove(file, ignored);
    }
  }
}

void remove_checkpoints(const TrainingJob& job, const std::string& folder) {
  for (const trainer::Task& task : job.tasks) {
    const trainer::Survival& survival = task.survival;
    if (survival.checkpoint_every == 0 || survival.checkpoint_folder != folder) continue;
    checkpoint::remove_all({.folder = folder, .name = survival.checkpoint_name});
  }
}

}  // namespace tw::lab
