// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/perf.h"

#include "trainwire/base/bus_text.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/base/words.h"
#include "trainwire/nccl/perf_table.h"
#include "trainwire/readers/nccl_log.h"
#include "trainwire/readers/pace_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::readers {
namespace {

using operations::Told;

std::string op_of(const nccl::PerfTable& table) {
  return table.operation ? std::string(nccl::name_of(*table.operation)) : "unknown";
}

void add_row(const nccl::PerfTable& table, const nccl::PerfRow& row, Told& told) {
  const nccl::Timed& timed = row.timed();
  if (!(timed.time_us >= 0 && timed.time_us < 1e15)) return;
  told.operations.push_back({.group = "all",
                             .group_size = table.ranks,
                             .op = op_of(table),
                             .sequence = static_cast<std::int64_t>(told.operations.size()),
                             .bytes = row.bytes,
                             .dtype = row.type,
                             .start_ns = 0,
                             .end_ns = std::llround(1000 * timed.time_us),
                             .state = operations::State::Completed,
                             .clock = operations::Clock::Alone});
}

/// Where the table ends up, and where it is half way.
void add_note(const nccl::PerfTable& table, Told& told) {
  const nccl::PerfRow* best = nullptr;
  for (const nccl::PerfRow& row : table.rows) {
    if (best == nullptr || row.timed().busbw_gbs > best->timed().busbw_gbs) best = &row;
  }
  if (best == nullptr || best->timed().busbw_gbs <= 0) return;
  std::string text =
      fmt::format("{}: bus bandwidth reaches {} at {}", op_of(table),
                  bus_text(8e9 * best->timed().busbw_gbs), readable(Bytes(best->bytes)));
  for (const nccl::PerfRow& row : table.rows) {
    if (row.timed().busbw_gbs < 0.5 * best->timed().busbw_gbs) continue;
    if (&row == &table.rows.front() || &row == best) break;  // the smallest already, or a jump
    text += fmt::format(", half of it at {}", readable(Bytes(row.bytes)));
    break;
  }
  std::int64_t wrong = 0;
  for (const nccl::PerfRow& row : table.rows) wrong += std::min(row.wrong, std::int64_t{1} << 40);
  if (wrong > 0) text += fmt::format("; {} values came out wrong", wrong);
  told.notes.push_back(text + "; `trainwire expect` says what the hardware should reach");
}

/// Of a job that tried its network before it began.
void add_training(PaceLog& pace, Told& told) {
  Told of_pace;
  pace.finish(of_pace);
  if (of_pace.steps.empty() || pace.was_loose()) return;
  told.steps = std::move(of_pace.steps);
  told.records += told.steps.size();
  told.skipped += of_pace.skipped;
  told.reasons = std::move(of_pace.reasons);
}

}  // namespace

void read_perf(const std::string& text, Told& told) {
  NcclLog log;
  PaceLog pace;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (!log.line(line)) pace.line(line);
    begin = end + 1;
  }
  Told of_log;
  log.finish(of_log);
  told.wiring = std::move(of_log.wiring);
  add_training(pace, told);
  try {
    const nccl::PerfFile file = nccl::parse_perf(text, told.path);
    for (const nccl::PerfTable& table : file.tables) {
      for (const nccl::PerfRow& row : table.rows) add_row(table, row, told);
      add_note(table, told);
    }
    for (std::size_t rank = 0; rank < file.hosts.size(); ++rank) {
      told.wiring.hosts.try_emplace(static_cast<int>(rank), file.hosts[rank]);
    }
    told.records += told.operations.size();
    if (file.contradictory > 0) {
      told.skipped += static_cast<std::uint64_t>(file.contradictory);
      told.reasons.push_back(
          fmt::format("{} rows whose bandwidth contradicts their time", file.contradictory));
    }
    if (file.unreadable > 0) {
      told.skipped += static_cast<std::uint64_t>(file.unreadable);
      told.reasons.push_back(
          fmt::format("{} rows that are cut off or tell no time", file.unreadable));
    }
    if (!file.failure.empty())
      told.reasons.push_back("nccl-tests failed behind its last row: " + file.failure);
    if (file.alone)
      told.reasons.emplace_back(
          "every process is its own rank 0: nccl-tests was built without MPI");
  } catch (const DataError& error) {
    told.reasons.emplace_back(without_place(error.what(), printable(told.path)));
  }
}

}  // namespace tw::readers
