// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/clean_text.h"
#include "trainwire/report/throughput.h"
#include "trainwire/timeline/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <tuple>

namespace tw::timeline {
namespace {

using result::TableReader;

constexpr std::size_t kHosts = 128;
constexpr std::size_t kConnections = 256;

/// Rates of stretches of `per` windows, and 0 where no window followed.
std::vector<Value> rates_of(const report::Series& series, std::int64_t per) {
  std::vector<Value> values;
  const std::int64_t width = series.width_ns * per;
  const std::int64_t first = series.windows.front().start_ns;
  std::int64_t end = first;  // of the stretch that values.back() is of
  for (const report::Window& window : series.windows) {
    const std::int64_t start = first + (window.start_ns - first) / width * width;
    if (values.empty() || start >= end) {
      if (!values.empty() && start > end) values.push_back({end, 0});
      values.push_back({start, 0});
      end = start + width;
    }
    values.back().value += static_cast<double>(window.bytes) * 8 / static_cast<double>(width);
  }
  values.push_back({end, 0});
  return values;
}

/// So that there are at most `most` values, or a few: every stretch may be followed by a pause.
std::int64_t windows_per_value(const report::Series& series, std::size_t most) {
  if (series.windows.size() * 2 <= most) return 1;
  const std::int64_t span =
      (series.windows.back().start_ns - series.windows.front().start_ns) / series.width_ns + 1;
  const auto share = static_cast<std::int64_t>(std::max<std::size_t>(most / 2, 2));
  return std::max<std::int64_t>(1, (std::min(span, INT64_MAX / 2) + share - 1) / share);
}

/// "host0 sends" as the host and the rest.
std::pair<std::string, std::string> host_and_rest(const std::string& name) {
  const std::size_t blank = name.rfind(' ');
  return {name.substr(0, blank), name.substr(blank + 1)};
}

/// A column of a table that is sampled over time, shown as a counter of its own.
struct Sampled {
  std::string_view column;
  std::string_view title;
  std::string_view unit;
  double factor;
};

constexpr std::array kSocketColumns{Sampled{"rtt_ns", "rtt", "us", 1e-3},
                                    Sampled{"window_bytes", "cwnd", "bytes", 1}};
constexpr std::array kSampleColumns{
    Sampled{"queue_bytes", "queue", "bytes", 1},
    Sampled{"receiving_queue_bytes", "queue on the way in", "bytes", 1}};

/// Names a row's process and, in front of the column's title, its track.
using Naming = std::function<std::pair<std::string, std::string>(const TableReader&)>;

struct SampledTable {
  std::string_view name;
  std::span<const Sampled> columns;
  std::function<Naming(const TableReader&)> naming;
};

std::size_t count_rows(const TimelinePlan& plan, const SampledTable& wanted) {
  std::size_t count = 0;
  with_table(*plan.run, wanted.name, [&](TableReader& table) {
    const auto time = table.column("time_ns");
    while (table.next()) {
      const auto time_ns = time_in(table, time);
      if (time_ns && plan.window.touches(*time_ns, *time_ns)) ++count;
    }
  });
  return count;
}

struct Counter {
  std::size_t seen = 0;
  std::vector<Track> tracks;
};

void add_values(Counter& counter, const SampledTable& wanted, const TableReader& table,
                std::int64_t time_ns) {
  for (std::size_t i = 0; i < wanted.columns.size(); ++i) {
    const Sampled& column = wanted.columns[i];
    const auto value = table.number(table.column(column.column));
    if (value && std::isfinite(*value))
      counter.tracks[i].values.push_back({time_ns, *value * column.factor});
  }
}

/// Every so many rows of a counter are kept, so that all together are no more than `most`.
void add_sampled(const TimelinePlan& plan, const SampledTable& wanted, std::size_t most,
                 Tracks& into, std::vector<std::string>& notes) {
  const std::size_t all = count_rows(plan, wanted) * wanted.columns.size();
  if (all == 0) return;
  const std::size_t stride =
      std::max<std::size_t>(1, (all + most - 1) / std::max<std::size_t>(most, 1));
  if (stride > 1) {
    notes.push_back(fmt::format("one of {} rows of {}.csv is shown", stride, wanted.name));
  }
  std::map<std::pair<std::string, std::string>, Counter> counters;
  std::size_t passed_over = 0;
  with_table(*plan.run, wanted.name, [&](TableReader& table) {
    const auto time = table.column("time_ns");
    const Naming naming = wanted.naming(table);
    while (table.next()) {
      const auto time_ns = time_in(table, time);
      if (!time_ns || !plan.window.touches(*time_ns, *time_ns)) continue;
      const auto key = naming(table);
      if (counters.size() >= kConnections && !counters.contains(key)) {
        ++passed_over;
        continue;
      }
      Counter& counter = counters[key];
      counter.tracks.resize(wanted.columns.size());
      if (counter.seen++ % stride == 0) add_values(counter, wanted, table, *time_ns);
    }
  });
  if (passed_over > 0) {
    notes.push_back(
        fmt::format("{}.csv: only {} connections are shown", wanted.name, kConnections));
  }
  for (auto& [key, counter] : counters) {
    for (std::size_t i = 0; i < counter.tracks.size(); ++i) {
      Track& track = counter.tracks[i];
      track.name = key.second + std::string(wanted.columns[i].title);
      track.unit = wanted.columns[i].unit;
      std::stable_sort(track.values.begin(), track.values.end(),
                       [](const Value& a, const Value& b) { return a.time_ns < b.time_ns; });
      into[key.first].push_back(std::move(track));
    }
  }
}

Naming name_of_socket(const TableReader& header) {
  return [job = header.column("job"), rank = header.column("rank"), peer = header.column("peer"),
          lane = header.column("lane")](const TableReader& table) {
    const std::string name = cleaned(table.text(job));
    const std::string_view number = table.text(lane);
    return std::pair(
        name.empty() ? "job" : name,
        fmt::format("rank {} to {}{}: ", cleaned(table.text(rank)), cleaned(table.text(peer)),
                    number == "0" || number.empty() ? "" : fmt::format(" ({})", cleaned(number))));
  };
}

Naming name_of_sample(const TableReader& header) {
  return [host = header.column("host")](const TableReader& table) {
    return std::pair(cleaned(table.text(host)), std::string());
  };
}

}  // namespace

void add_rates(const TimelinePlan& plan, Pieces& pieces) {
  std::vector<report::Series> all;
  with_table(*plan.run, "windows", [&](TableReader& table) {
    report::Limits limits;
    limits.hosts = kHosts;
    limits.pairs = 0;
    all = report::read_windows(table, {}, limits).series;
  });
  for (report::Series& series : all) {
    std::erase_if(series.windows, [&](const report::Window& window) {
      return window.start_ns < 0 || window.start_ns > kLastTime ||
             !plan.window.touches(window.start_ns, window.start_ns);
    });
  }
  std::erase_if(all, [](const report::Series& series) {
    return series.windows.empty() || series.width_ns > kLastTime / 4;
  });
  std::int64_t longest_ns = 0;
  const std::size_t most = events_left(plan, pieces) / 2 / std::max<std::size_t>(all.size(), 1);
  for (const report::Series& series : all) {
    const std::int64_t per = windows_per_value(series, most);
    if (per > 1) longest_ns = std::max(longest_ns, per * series.width_ns);
    const bool is_total = series.group == "total";
    const auto [host, direction] = host_and_rest(series.name);
    auto& process = is_total ? pieces.capture["capture"] : pieces.hosts[cleaned(host)];
    process.push_back({.name = is_total ? "all traffic" : direction,
                       .unit = "Gbit/s",
                       .values = rates_of(series, per)});
  }
  if (longest_ns > 0) {
    pieces.notes.push_back(fmt::format("rates are means over up to {:.3g} ms",
                                       static_cast<double>(longest_ns) * 1e-6));
  }
}

void add_samples(const TimelinePlan& plan, Pieces& pieces) {
  const SampledTable sockets{
      .name = "sockets", .columns = kSocketColumns, .naming = name_of_socket};
  add_sampled(plan, sockets, events_left(plan, pieces) * 2 / 3, pieces.jobs, pieces.notes);
  const SampledTable samples{
      .name = "samples", .columns = kSampleColumns, .naming = name_of_sample};
  add_sampled(plan, samples, events_left(plan, pieces), pieces.hosts, pieces.notes);
}

}  // namespace tw::timeline
