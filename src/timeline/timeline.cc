// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/timeline.h"

#include "trainwire/timeline/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

namespace tw::timeline {
namespace {

/// The first event of any table; nothing when no table tells a time.
std::optional<std::int64_t> first_event(const RunPart& run) {
  std::optional<std::int64_t> first;
  static constexpr std::pair<const char*, const char*> kTimes[] = {
      {"steps", "start_ns"}, {"windows", "start_ns"}, {"iterations", "start_ns"},
      {"flows", "first_ns"}, {"sockets", "time_ns"},  {"samples", "time_ns"}};
  for (const auto& [name, column] : kTimes) {
    with_table(run, name, [&, column = column](result::TableReader& table) {
      const auto time = table.column(column);
      if (!table.next()) return;
      const auto time_ns = time_in(table, time);
      if (time_ns && (!first || *time_ns < *first)) first = time_ns;
    });
  }
  return first;
}

/// `origin` and that many seconds; the end of time when it is beyond.
std::int64_t moment(std::int64_t origin_ns, double seconds) {
  const double ns = static_cast<double>(origin_ns) + seconds * 1e9;
  if (ns >= 9.2e18) return INT64_MAX;
  if (ns <= -9.2e18) return INT64_MIN;
  return origin_ns + std::llround(seconds * 1e9);
}

std::size_t events_of(const std::vector<Track>& tracks) {
  std::size_t sum = 0;
  for (const Track& track : tracks) sum += track.slices.size() + track.values.size();
  return sum;
}

void move_into(Timeline& timeline, Tracks& tracks) {
  for (auto& [name, list] : tracks) {
    std::erase_if(list, [](const Track& t) { return t.slices.empty() && t.values.empty(); });
    if (!list.empty()) timeline.processes.push_back({.name = name, .tracks = std::move(list)});
  }
}

std::int64_t start_of(const Timeline& timeline) {
  std::int64_t start = INT64_MAX;
  for (const Process& process : timeline.processes) {
    for (const Track& track : process.tracks) {
      if (!track.slices.empty()) start = std::min(start, track.slices.front().start_ns);
      if (!track.values.empty()) start = std::min(start, track.values.front().time_ns);
    }
  }
  return start == INT64_MAX ? 0 : start;
}

}  // namespace

std::size_t Timeline::events() const {
  std::size_t sum = 0;
  for (const Process& process : processes) sum += events_of(process.tracks);
  return sum;
}

std::size_t events_left(const TimelinePlan& plan, const Pieces& pieces) {
  std::size_t sum = 0;
  for (const Tracks* all : {&pieces.jobs, &pieces.capture, &pieces.hosts}) {
    for (const auto& [name, tracks] : *all) sum += events_of(tracks);
  }
  return plan.events - std::min(sum, plan.events);
}

void with_table(const RunPart& run, std::string_view name,
                const std::function<void(result::TableReader&)>& read) {
  std::ifstream file = result::open_table(fmt::format("{}/{}.csv", run.folder, name));
  if (!file.is_open() || file.peek() == std::ifstream::traits_type::eof()) return;
  result::TableReader table(file);
  read(table);
}

std::optional<std::int64_t> time_in(const result::TableReader& table,
                                    std::optional<std::size_t> column) {
  const auto time = table.integer(column);
  return time && *time >= 0 && *time <= kLastTime ? time : std::nullopt;
}

Timeline timeline_of(const RunPart& run, const TimelineOptions& options) {
  Timeline timeline;
  const auto origin = first_event(run);
  if (!origin) {
    timeline.notes.emplace_back("no table of the run tells a time");
    return timeline;
  }
  const TimeWindow window{.from_ns = options.from_s ? moment(*origin, *options.from_s) : INT64_MIN,
                          .to_ns = options.to_s ? moment(*origin, *options.to_s) : INT64_MAX};
  const TimelinePlan plan{
      .run = &run, .window = window, .origin_ns = *origin, .events = options.events};
  Pieces pieces;
  add_phases(plan, pieces);
  add_iterations(plan, pieces);
  add_flows(plan, pieces);
  add_rates(plan, pieces);
  add_samples(plan, pieces);
  timeline.notes = std::move(pieces.notes);
  move_into(timeline, pieces.jobs);
  move_into(timeline, pieces.capture);
  move_into(timeline, pieces.hosts);
  timeline.start_ns = start_of(timeline);
  if (timeline.processes.empty()) timeline.notes.emplace_back("nothing happened in that time");
  return timeline;
}

}  // namespace tw::timeline
