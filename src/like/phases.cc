// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/phases.h"

#include "trainwire/record/phase.h"
#include "trainwire/result/table_reader.h"

#include <optional>
#include <tuple>

namespace tw::like {
namespace {

/// What one rank logged of one step.
struct Logged {
  std::optional<double> step_s = {};
  std::optional<double> wait_s = {};
};
using Key = std::tuple<std::string, int, std::int64_t>;  ///< job, rank, step

void add(std::optional<double>& sum, double s) { sum = sum.value_or(0) + s; }

std::map<Key, Logged> logged_in(std::istream& file) {
  std::map<Key, Logged> logged;
  result::TableReader table(file);
  const auto rank = table.column("rank");
  const auto step = table.column("step");
  const auto phase = table.column("phase");
  const auto start = table.column("start_ns");
  const auto end = table.column("end_ns");
  const auto job = table.column("job");
  while (table.next()) {
    const auto named = record::phase_named(table.text(phase));
    const auto of_rank = table.integer(rank);
    const auto of_step = table.integer(step);
    const auto from_ns = table.time_ns(start);
    const auto to_ns = table.time_ns(end);
    if (!named || !of_rank || !of_step || !from_ns || !to_ns || *of_step < 0) continue;
    const double s = 1e-9 * static_cast<double>(*to_ns - *from_ns);
    const Key key{std::string(table.text(job)), static_cast<int>(*of_rank), *of_step};
    if (*named == record::Phase::Step) add(logged[key].step_s, s);
    if (*named == record::Phase::Wait) add(logged[key].wait_s, s);
  }
  return logged;
}

}  // namespace

std::map<std::string, std::map<int, std::vector<Computed>>> computed_in(const std::string& folder) {
  std::map<std::string, std::map<int, std::vector<Computed>>> jobs;
  const std::string path = folder + "/steps.csv";
  std::ifstream file = result::open_table(path);
  if (!file.is_open()) return jobs;
  for (const auto& [key, logged] : logged_in(file)) {
    if (!logged.step_s || !logged.wait_s) continue;
    const auto& [job, rank, step] = key;
    jobs[job][rank].push_back({.step = step, .s = *logged.step_s - *logged.wait_s});
  }
  result::require_read(file, path);
  return jobs;
}

}  // namespace tw::like
