// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/phase.h"

#include "trainwire/result/csv.h"
#include "trainwire/result/table_reader.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace tw::record {
namespace {

constexpr std::array<std::string_view, 9> kNames{"forward",     "backward",     "exchange",
                                                 "aggregation", "distribution", "wait",
                                                 "optimiser",   "broadcast",    "step"};

}  // namespace

std::string_view name_of(Phase phase) { return kNames[static_cast<std::size_t>(phase)]; }

std::optional<Phase> phase_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Phase>(i);
  }
  return {};
}

void append_phase_line(std::string& text, const PhaseRow& row) {
  fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}\n", row.step, name_of(row.phase),
                 row.bucket, row.start_ns, row.end_ns, row.bytes, row.queued);
}

void read_phase_lines(std::istream& file, int rank, std::vector<PhaseRow>& rows) {
  std::vector<std::string> fields;
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) return;  // without its line feed it is not whole
    result::split_row(line, fields);
    if (fields.size() != 7) continue;
    const std::optional<Phase> phase = phase_named(fields[1]);
    if (!phase) continue;
    const auto number = [&](std::size_t i) {
      return result::parsed<std::int64_t>(fields[i]).value_or(0);
    };
    rows.push_back({.rank = rank,
                    .step = number(0),
                    .phase = *phase,
                    .bucket = static_cast<int>(number(2)),
                    .start_ns = number(3),
                    .end_ns = number(4),
                    .bytes = number(5),
                    .queued = number(6)});
  }
}

}  // namespace tw::record
