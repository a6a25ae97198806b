// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/tables.h"

#include "trainwire/gather/ports.h"
#include "trainwire/record/phase.h"
#include "trainwire/result/columns.h"
#include "trainwire/summarise/iteration_pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <span>

namespace tw::summarise {
namespace {

using record::RunFolder;
using result::Cell;
using result::TableFile;

std::string protocol_name(std::uint8_t number) {
  if (number == 6) return "tcp";
  if (number == 17) return "udp";
  return std::to_string(number);
}

/// A flow as flows.csv shows it.
struct FlowRow {
  const flow::Flow& flow;
  std::size_t number;
  std::string source;
  std::string destination;
  std::string protocol;
  diagnose::FlowClass flow_class;
};

/// Of the round trips, where there were any.
Cell of_trips(const FlowRow& row, std::int64_t value) {
  return row.flow.round_trips.count > 0 ? Cell(value) : Cell();
}

std::int64_t mean_trip_ns(const flow::RoundTrips& trips) {
  return trips.count > 0 ? trips.sum_ns / static_cast<std::int64_t>(trips.count) : 0;
}

constexpr std::array<result::Filled<FlowRow>, 29> kFlowColumns{{
    {"flow", [](const FlowRow& r) -> Cell { return r.number; }},
    {"source", [](const FlowRow& r) -> Cell { return r.source; }},
    {"source_port", [](const FlowRow& r) -> Cell { return r.flow.key.source_port; }},
    {"destination", [](const FlowRow& r) -> Cell { return r.destination; }},
    {"destination_port", [](const FlowRow& r) -> Cell { return r.flow.key.destination_port; }},
    {"protocol", [](const FlowRow& r) -> Cell { return r.protocol; }},
    {"class", [](const FlowRow& r) -> Cell { return name_of(r.flow_class); }},
    {"first_ns", [](const FlowRow& r) -> Cell { return r.flow.first_ns; }},
    {"last_ns", [](const FlowRow& r) -> Cell { return r.flow.last_ns; }},
    {"packets", [](const FlowRow& r) -> Cell { return r.flow.packets; }},
    {"wire_bytes", [](const FlowRow& r) -> Cell { return r.flow.wire_bytes; }},
    {"payload_bytes", [](const FlowRow& r) -> Cell { return r.flow.payload_bytes; }},
    {"stream_bytes", [](const FlowRow& r) -> Cell { return r.flow.stream_bytes(); }},
    {"retransmitted_bytes", [](const FlowRow& r) -> Cell { return r.flow.retransmitted_bytes; }},
    {"recovered_bytes", [](const FlowRow& r) -> Cell { return r.flow.recovered_bytes; }},
    {"reordered_bytes", [](const FlowRow& r) -> Cell { return r.flow.reordered_bytes; }},
    {"missing_bytes", [](const FlowRow& r) -> Cell { return r.flow.stream.missing_bytes(); }},
    {"acknowledgement_packets",
     [](const FlowRow& r) -> Cell { return r.flow.acknowledgement_packets; }},
    {"large_packets", [](const FlowRow& r) -> Cell { return r.flow.large_packets; }},
    {"marked_packets", [](const FlowRow& r) -> Cell { return r.flow.marked_packets; }},
    {"bursts", [](const FlowRow& r) -> Cell { return r.flow.bursts.size(); }},
    {"longest_pause_ns", [](const FlowRow& r) -> Cell { return r.flow.longest_pause_ns; }},
    {"rtt_samples", [](const FlowRow& r) -> Cell { return r.flow.round_trips.count; }},
    {"rtt_min_ns", [](const FlowRow& r) { return of_trips(r, r.flow.round_trips.least_ns); }},
    {"rtt_mean_ns", [](const FlowRow& r) { return of_trips(r, mean_trip_ns(r.flow.round_trips)); }},
    {"rtt_max_ns", [](const FlowRow& r) { return of_trips(r, r.flow.round_trips.most_ns); }},
    {"saw_syn", [](const FlowRow& r) -> Cell { return r.flow.saw_syn; }},
    {"saw_fin", [](const FlowRow& r) -> Cell { return r.flow.saw_fin; }},
    {"saw_reset", [](const FlowRow& r) -> Cell { return r.flow.saw_reset; }},
}};

void write_flows(const CaptureResult& result, TableFile& table) {
  const gather::Captured& traffic = result.traffic;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const flow::Flow& flow = traffic.flows[i];
    result::write_row(
        table, kFlowColumns,
        FlowRow{.flow = flow,
                .number = i,
                .source = gather::real_text(traffic.addresses[flow.key.source]),
                .destination = gather::real_text(traffic.addresses[flow.key.destination]),
                .protocol = protocol_name(flow.key.protocol),
                .flow_class = result.analysis.classes[i]});
  }
  std::size_t number = traffic.flows.size();
  for (const SmallFlow& small : result.small_flows) {
    result::write_row(table, kFlowColumns,
                      FlowRow{.flow = small.flow,
                              .number = number++,
                              .source = small.source,
                              .destination = small.destination,
                              .protocol = protocol_name(small.flow.key.protocol),
                              .flow_class = class_of(small)});
  }
}

void write_pairs(const CaptureResult& result, const HostNames& names, TableFile& table) {
  for (const HostPair& pair : host_pairs(result.traffic, names)) {
    table.row({names.name(pair.from), names.name(pair.to), pair.count.packets,
               pair.count.wire_bytes, pair.count.payload_bytes, pair.count.stream_bytes,
               pair.count.retransmitted_bytes});
  }
}

void write_iterations(const diagnose::Iterations& iterations, TableFile& table) {
  std::size_t number = 0;
  for (const diagnose::Iteration& step : iterations.steps) {
    table.row({number++, step.start_ns, step.end_ns,
               static_cast<double>(step.end_ns - step.start_ns) / 1e9, step.exchange_start_ns,
               step.exchange_end_ns, step.bytes, step.packets});
  }
}

/// A series of windows.csv: one flow's, several added up, or the total.
struct WindowSeries {
  Cell from = {};
  Cell to = {};
  Cell flow = {};
  std::vector<const flow::Series*> parts;
};

/// Windows of several series added up at a width of 2^fold base windows.
class Sum {
 public:
  void add(const flow::Series& series, unsigned fold) {
    for (const flow::Window& window : series.windows()) add(window.index >> fold, window.bytes);
  }
  /// In order of time, each window once.
  const std::vector<std::pair<std::uint32_t, std::uint64_t>>& sorted() {
    if (!std::is_sorted(windows_.begin(), windows_.end())) {
      std::sort(windows_.begin(), windows_.end());
    }
    std::size_t last = 0;
    for (std::size_t i = 1; i < windows_.size(); ++i) {
      if (windows_[i].first == windows_[last].first) {
        windows_[last].second += windows_[i].second;
      } else {
        windows_[++last] = windows_[i];
      }
    }
    if (!windows_.empty()) windows_.resize(last + 1);
    return windows_;
  }

 private:
  /// A series is in order of time, so neighbours that fall together are found here already.
  void add(std::uint32_t index, std::uint64_t bytes) {
    if (!windows_.empty() && windows_.back().first == index) {
      windows_.back().second += bytes;
    } else {
      windows_.emplace_back(index, bytes);
    }
  }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> windows_;
};

/// The least fold at which there are at most kMostWindowRows windows; those that several parts
/// share count for each.
unsigned fold_for(std::span<const WindowSeries> all) {
  // Neighbours are two windows up to the highest bit in which their indices differ.
  std::array<std::size_t, 33> apart_below = {};
  std::size_t count = 0;
  for (const WindowSeries& series : all) {
    for (const flow::Series* part : series.parts) {
      std::optional<std::uint32_t> before;
      for (const flow::Window& window : part->windows()) {
        ++count;
        if (before) ++apart_below[static_cast<std::size_t>(std::bit_width(*before ^ window.index))];
        before = window.index;
      }
    }
  }
  unsigned fold = 0;
  while (fold < 31 && count > kMostWindowRows) count -= apart_below[++fold];
  return fold;
}

void write_scope(std::string_view scope, std::span<const WindowSeries> all,
                 const flow::Clock& clock, TableFile& table) {
  const unsigned fold = fold_for(all);
  const std::int64_t width_ns = clock.width_ns << fold;
  for (const WindowSeries& series : all) {
    Sum sum;
    for (const flow::Series* part : series.parts) sum.add(*part, fold);
    const auto beginning = table.beginning({scope, series.from, series.to, series.flow});
    for (const auto& [index, bytes] : sum.sorted()) {
      table.row(beginning,
                {clock.origin_ns + width_ns * static_cast<std::int64_t>(index), width_ns, bytes});
    }
  }
}

void write_windows(const gather::Captured& traffic, const HostNames& names, TableFile& table) {
  write_scope("total", std::vector<WindowSeries>{{.parts = {&traffic.series}}}, traffic.clock,
              table);
  std::map<std::pair<std::size_t, std::size_t>, WindowSeries> pairs;
  std::vector<WindowSeries> flows;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const flow::Flow& flow = traffic.flows[i];
    const std::size_t from = names.host_of(flow.key.source);
    const std::size_t to = names.host_of(flow.key.destination);
    WindowSeries& pair = pairs[{from, to}];
    pair.from = names.name(from);
    pair.to = names.name(to);
    pair.parts.push_back(&flow.series);
    flows.push_back({.from = pair.from, .to = pair.to, .flow = i, .parts = {&flow.series}});
  }
  std::vector<WindowSeries> of_pairs;
  of_pairs.reserve(pairs.size());
  for (auto& [key, series] : pairs) of_pairs.push_back(std::move(series));
  write_scope("pair", of_pairs, traffic.clock, table);
  write_scope("flow", flows, traffic.clock, table);
}

void write_collectives(const diagnose::Analysis& analysis, TableFile& table) {
  for (const diagnose::Collective& collective : analysis.collectives) {
    const auto timing = timing_of(collective, analysis);
    const auto number = [&](double value) { return timing ? Cell(value) : Cell(); };
    const CollectiveTiming shown = timing.value_or(CollectiveTiming{});
    table.row({collective.operation, collective.strategy,
               fmt::format("{}", fmt::join(collective.order, " ")), collective.order.size(),
               collective.bytes_per_iteration,
               fmt::format("{}", fmt::join(collective.buckets, " ")), collective.count,
               number(shown.time_s.value), number(shown.time_s.low), number(shown.time_s.high),
               number(shown.algbw_bps), number(shown.busbw_bps), collective.confidence,
               collective.evidence});
  }
}

void write_steps(const imports::StepLog& log, TableFile& table) {
  for (const imports::LoggedStep& step : log.steps) {
    table.row({step.rank,
               step.step,
               name_of(record::Phase::Step),
               step.start_ns,
               step.end_ns,
               {},
               {},
               {},
               {}});
  }
}

}  // namespace

void write_tables(const CaptureResult& result, RunFolder& folder) {
  const HostNames names(result.traffic, result.analysis);
  write_windows(result.traffic, names, folder.table("windows"));
  write_tables_but_windows(result, folder);
}

std::future<void> begin_windows(const gather::Captured& traffic, std::vector<gather::Host> hosts,
                                RunFolder& folder) {
  TableFile& table = folder.table("windows");
  diagnose::Analysis only_hosts = {};
  only_hosts.hosts = std::move(hosts);
  return std::async(std::launch::async, [&traffic, &table, names = HostNames(traffic, only_hosts)] {
    write_windows(traffic, names, table);
  });
}

void write_tables_but_windows(const CaptureResult& result, RunFolder& folder) {
  const HostNames names(result.traffic, result.analysis);
  write_flows(result, folder.table("flows"));
  write_pairs(result, names, folder.table("pairs"));
  write_iterations(result.analysis.iterations, folder.table("iterations"));
  write_iteration_pairs(result, names, folder.table("iteration_pairs"));
  write_collectives(result.analysis, folder.table("collectives"));
  if (result.log) write_steps(*result.log, folder.table("steps"));
}

}  // namespace tw::summarise
