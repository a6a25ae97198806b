// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/clean_text.h"
#include "trainwire/record/phase.h"
#include "trainwire/timeline/lanes.h"
#include "trainwire/timeline/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::timeline {
namespace {

using result::TableReader;

/// Columns of steps.csv and what is wanted of a row.
class PhaseRows {
 public:
  PhaseRows(TableReader& table, const TimeWindow& window)
      : table_(&table),
        window_(window),
        rank_(table.column("rank")),
        step_(table.column("step")),
        phase_(table.column("phase")),
        start_(table.column("start_ns")),
        end_(table.column("end_ns")),
        job_(table.column("job")),
        bucket_(table.column("bucket")),
        moved_(table.column("moved_bytes")) {}

  /// Goes to the next row that is in the window.
  bool next() {
    while (table_->next()) {
      const auto start = time_in(*table_, start_), end = time_in(*table_, end_);
      if (!start || !end || *end < *start || !window_.touches(*start, *end)) continue;
      if (!table_->integer(rank_) || !table_->integer(step_)) continue;
      start_ns_ = *start;
      end_ns_ = *end;
      return true;
    }
    return false;
  }

  std::int64_t start_ns() const { return start_ns_; }
  std::pair<std::string, std::int64_t> rank() const {
    return {cleaned(table_->text(job_)), *table_->integer(rank_)};
  }
  Slice slice() const {
    const std::int64_t step = *table_->integer(step_);
    std::string name = cleaned(table_->text(phase_));
    if (name == name_of(record::Phase::Step)) name = fmt::format("step {}", step);
    Slice slice{.start_ns = start_ns_, .end_ns = end_ns_, .name = name};
    slice.arguments.push_back({"step", step});
    if (const auto bucket = table_->integer(bucket_))
      slice.arguments.push_back({"bucket", *bucket});
    const auto moved = table_->integer(moved_);
    if (moved && *moved > 0) slice.arguments.push_back({"moved_bytes", *moved});
    return slice;
  }

 private:
  TableReader* table_;
  TimeWindow window_;
  std::optional<std::size_t> rank_, step_, phase_, start_, end_, job_, bucket_, moved_;
  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
};

/// Phases that start later are left off.
std::int64_t last_start(const TimelinePlan& plan, std::size_t most, std::size_t& left_off) {
  std::vector<std::int64_t> starts;
  with_table(*plan.run, "steps", [&](TableReader& table) {
    PhaseRows rows(table, plan.window);
    while (rows.next()) starts.push_back(rows.start_ns());
  });
  if (starts.size() <= most) return INT64_MAX;
  const auto cut = starts.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(starts.begin(), cut, starts.end());
  const std::int64_t last = *cut - 1;
  left_off = static_cast<std::size_t>(
      std::count_if(starts.begin(), starts.end(), [&](std::int64_t each) { return each > last; }));
  return last;
}

/// The host of each rank of each job, as far as the experiment tells.
std::map<std::pair<std::string, std::int64_t>, std::string> placement(const RunPart& run) {
  std::map<std::pair<std::string, std::int64_t>, std::string> hosts;
  for (std::size_t job = 0;; ++job) {
    const auto at = [&](const char* key) {
      return setting(run.file.summary, fmt::format("jobs.{}.{}", job, key));
    };
    const auto name = text_of(at("name"));
    if (!name) return hosts;
    const std::vector<std::string> names = texts_of(at("placement"));
    for (std::size_t i = 0; i < names.size(); ++i) {
      hosts[{*name, static_cast<std::int64_t>(i)}] = names[i];
    }
  }
}

double seconds_since(const TimelinePlan& plan, std::int64_t time_ns) {
  return static_cast<double>(time_ns - plan.origin_ns) * 1e-9;
}

}  // namespace

void add_phases(const TimelinePlan& plan, Pieces& pieces) {
  std::size_t left_off = 0;
  const std::int64_t last = last_start(plan, std::max<std::size_t>(plan.events / 2, 1), left_off);
  if (left_off > 0) {
    pieces.notes.push_back(
        fmt::format("{} phases after {:.3f} s are left off", left_off, seconds_since(plan, last)));
  }
  std::map<std::pair<std::string, std::int64_t>, std::vector<Slice>> by_rank;
  with_table(*plan.run, "steps", [&](TableReader& table) {
    PhaseRows rows(table, plan.window);
    while (rows.next()) {
      if (rows.start_ns() <= last) by_rank[rows.rank()].push_back(rows.slice());
    }
  });
  const auto hosts = placement(*plan.run);
  for (auto& [rank, slices] : by_rank) {
    const auto host = hosts.find(rank);
    const std::string name = host == hosts.end()
                                 ? fmt::format("rank {}", rank.second)
                                 : fmt::format("rank {} ({})", rank.second, cleaned(host->second));
    std::size_t lane = 0;
    for (std::vector<Slice>& each : lanes_of(std::move(slices))) {
      pieces.jobs[rank.first.empty() ? "job" : rank.first].push_back(
          {.name = lane == 0 ? name : fmt::format("{}, overlapping {}", name, lane),
           .slices = std::move(each)});
      ++lane;
    }
  }
}

void add_iterations(const TimelinePlan& plan, Pieces& pieces) {
  std::vector<Slice> iterations, exchanges;
  with_table(*plan.run, "iterations", [&](TableReader& table) {
    const auto number = table.column("iteration");
    const auto start = table.column("start_ns"), end = table.column("end_ns");
    const auto from = table.column("exchange_start_ns"), to = table.column("exchange_end_ns");
    while (table.next() && iterations.size() < plan.events / 20) {
      const auto start_ns = time_in(table, start), end_ns = time_in(table, end);
      const auto i = table.integer(number);
      if (!i || !start_ns || !end_ns || *end_ns < *start_ns) continue;
      if (!plan.window.touches(*start_ns, *end_ns)) continue;
      iterations.push_back({.start_ns = *start_ns,
                            .end_ns = *end_ns,
                            .name = fmt::format("iteration {}", *i),
                            .arguments = {{"iteration", *i}}});
      const auto from_ns = time_in(table, from), to_ns = time_in(table, to);
      if (!from_ns || !to_ns || *to_ns < *from_ns) continue;
      exchanges.push_back({.start_ns = *from_ns,
                           .end_ns = *to_ns,
                           .name = "exchange",
                           .arguments = {{"iteration", *i}}});
    }
  });
  // One may end a little after the next has begun: the last bytes are still on their way.
  for (auto* list : {&iterations, &exchanges}) {
    std::size_t lane = 0;
    for (std::vector<Slice>& each : lanes_of(std::move(*list))) {
      const std::string name = list == &iterations ? "iterations" : "exchanges";
      pieces.capture["capture"].push_back(
          {.name = lane == 0 ? name : fmt::format("{}, overlapping {}", name, lane),
           .slices = std::move(each)});
      ++lane;
    }
  }
}

}  // namespace tw::timeline
