// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/phases.h"

#include "trainwire/base/error.h"
#include "trainwire/record/phase.h"
#include "trainwire/report/packed.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tw::report {
namespace {

using nlohmann::ordered_json;
using Row = std::pair<std::string, std::int64_t>;

/// Numbers in the order of the keys.
template <typename Key>
std::map<Key, std::size_t> numbered(const std::set<Key>& keys) {
  std::map<Key, std::size_t> numbers;
  for (const Key& key : keys) numbers.emplace(key, numbers.size());
  return numbers;
}

constexpr std::ptrdiff_t kMostPhases = 32;

/// Ranks beyond are left off.
std::size_t shown_rows(const Limits& limits) {
  return std::max<std::size_t>(1, limits.segments / 8);
}

bool is_measured(const PhaseTime& time) { return time.step >= 0; }

ordered_json medians(const std::vector<PhaseTime>& times, const std::map<Row, std::size_t>& rows,
                     const std::map<std::string, std::size_t>& phases, const Limits& limits) {
  // A phase that comes once for each bucket counts with its sum over the step.
  std::map<std::pair<std::size_t, std::size_t>, std::map<std::int64_t, double>> by_step;
  for (const PhaseTime& time : times) {
    if (!is_measured(time)) continue;
    const std::size_t row = rows.at({time.job, time.rank});
    by_step[{row, phases.at(time.phase)}][time.step] +=
        static_cast<double>(time.end_ns - time.start_ns) * 1e-9;
  }
  ordered_json table = ordered_json::array();
  for (std::size_t row = 0; row < std::min(rows.size(), shown_rows(limits)); ++row) {
    ordered_json line = ordered_json::array();
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
      std::vector<double> sums;
      if (const auto found = by_step.find({row, phase}); found != by_step.end()) {
        for (const auto& [step, sum] : found->second) sums.push_back(sum);
      }
      line.push_back(number_or_null(sums.empty() ? std::optional<double>()
                                                 : std::optional(stats::median(std::move(sums)))));
    }
    table.push_back(std::move(line));
  }
  return table;
}

/// How long after the first rank of its job each row began its steps.
ordered_json lateness(const std::vector<PhaseTime>& times, const std::map<Row, std::size_t>& rows,
                      const Limits& limits) {
  std::map<std::pair<std::string, std::int64_t>, std::map<std::int64_t, std::int64_t>> starts;
  for (const PhaseTime& time : times) {
    if (!is_measured(time)) continue;
    const auto [start, added] = starts[{time.job, time.step}].emplace(time.rank, time.start_ns);
    if (!added) start->second = std::min(start->second, time.start_ns);
  }
  std::vector<std::vector<double>> late(rows.size());
  for (const auto& [step, ranks] : starts) {
    std::int64_t first = INT64_MAX;
    for (const auto& [rank, start_ns] : ranks) first = std::min(first, start_ns);
    for (const auto& [rank, start_ns] : ranks) {
      late[rows.at({step.first, rank})].push_back(static_cast<double>(start_ns - first) * 1e-9);
    }
  }
  late.resize(std::min(late.size(), shown_rows(limits)));
  ordered_json list = ordered_json::array();
  for (const std::vector<double>& each : late) {
    if (each.empty()) {
      list.push_back(nullptr);
      continue;
    }
    list.push_back(short_numbers(
        {stats::median(each), stats::quantile(each, 0.95), stats::quantile(each, 1)}));
  }
  return list;
}

/// The last step of the first ones that together have no more than `most` phases.
std::int64_t last_shown_step(const std::map<std::int64_t, std::size_t>& segments,
                             std::size_t most) {
  std::size_t sum = 0;
  std::int64_t last = segments.begin()->first;
  for (const auto& [step, count] : segments) {
    sum += count;
    if (sum > most && step != segments.begin()->first) break;
    last = step;
  }
  return last;
}

ordered_json timeline(const std::vector<PhaseTime>& times, const std::map<Row, std::size_t>& rows,
                      const std::map<std::string, std::size_t>& phases, std::int64_t origin_ns,
                      const Limits& limits) {
  const std::size_t most_rows = std::min(rows.size(), shown_rows(limits));
  const auto is_shown = [&](const PhaseTime& time) {
    return is_measured(time) && time.phase != name_of(record::Phase::Step) &&
           rows.at({time.job, time.rank}) < most_rows;
  };
  std::map<std::int64_t, std::size_t> segments;
  for (const PhaseTime& time : times) {
    if (is_shown(time)) ++segments[time.step];
  }
  if (segments.empty()) return nullptr;
  const std::int64_t last = last_shown_step(segments, limits.segments);
  std::vector<std::size_t> row, phase;
  std::vector<std::int64_t> start, length;
  for (const PhaseTime& time : times) {
    if (!is_shown(time) || time.step > last || row.size() >= 2 * limits.segments) continue;
    row.push_back(rows.at({time.job, time.rank}));
    phase.push_back(phases.at(time.phase));
    start.push_back((time.start_ns - origin_ns) / 1000);
    length.push_back((time.end_ns - time.start_ns) / 1000);
  }
  return {{"from_step", segments.begin()->first},
          {"to_step", last},
          {"steps", segments.size()},
          {"left_off_rows", rows.size() - most_rows},
          {"row", row},
          {"phase", phase},
          {"start_us", start},
          {"length_us", length}};
}

}  // namespace

std::vector<PhaseTime> read_phases(result::TableReader& table) {
  std::vector<PhaseTime> times;
  const auto rank = table.column("rank"), step = table.column("step"), job = table.column("job");
  const auto phase = table.column("phase");
  const auto start = table.column("start_ns"), end = table.column("end_ns");
  while (table.next()) {
    const auto rank_number = table.integer(rank), step_number = table.integer(step);
    const auto start_ns = table.time_ns(start), end_ns = table.time_ns(end);
    if (!rank_number || !step_number || !start_ns || !end_ns || *end_ns < *start_ns) continue;
    times.push_back({std::string(table.text(job)), *rank_number, *step_number,
                     std::string(table.text(phase)), *start_ns, *end_ns});
  }
  return times;
}

ordered_json phases_document(const std::vector<PhaseTime>& times, std::int64_t origin_ns,
                             const Limits& limits) {
  check(!times.empty(), "phases need times");
  std::set<Row> row_keys;
  std::set<std::string> phase_keys;
  for (const PhaseTime& time : times) {
    row_keys.insert({time.job, time.rank});
    phase_keys.insert(time.phase);
  }
  if (std::ssize(phase_keys) > kMostPhases) {  // a rank has seven or so
    std::vector<PhaseTime> known;
    const std::set<std::string> kept(phase_keys.begin(),
                                     std::next(phase_keys.begin(), kMostPhases));
    std::copy_if(times.begin(), times.end(), std::back_inserter(known),
                 [&](const PhaseTime& time) { return kept.contains(time.phase); });
    return phases_document(known, origin_ns, limits);
  }
  const auto rows = numbered(row_keys);
  const auto phases = numbered(phase_keys);
  ordered_json document{{"rows", ordered_json::array()}, {"phases", phase_keys}};
  for (const auto& [job, rank] : row_keys) {
    if (document["rows"].size() >= shown_rows(limits)) break;
    document["rows"].push_back({{"job", job}, {"rank", rank}});
  }
  document["median_s"] = medians(times, rows, phases, limits);
  document["late_s"] = lateness(times, rows, limits);
  document["timeline"] = timeline(times, rows, phases, origin_ns, limits);
  return document;
}

}  // namespace tw::report
