// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/output.h"

#include "trainwire/attach/judged.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/text/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tw::attach {
namespace {

constexpr std::size_t kMostShown = 5;  ///< of each list

std::string size_text(std::uint64_t bytes) {
  return readable(Bytes(static_cast<std::int64_t>(bytes)));
}
std::string span_text(double time_s) { return readable(from_seconds(std::max(0.0, time_s))); }
std::string rate_text(double bps) { return readable(BitRate(bps)); }

bool moved(const Device& device) { return device.counts.sent + device.counts.received > 0; }

void add_steps(const record::Run& run, std::string& text) {
  const auto out = std::back_inserter(text);
  if (run.iterations && run.iterations->count > 0) {
    fmt::format_to(out, "steps    {} of {}, confidence {:.2f}\n", run.iterations->count,
                   span_text(run.iterations->median_s.value_or(0)), run.iterations->confidence);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(2, run.collectives.size()); ++i) {
    const record::Collective& each = run.collectives[i];
    fmt::format_to(out, "         {} {}, {} a step\n", each.operation, each.strategy,
                   size_text(each.bytes_per_iteration));
  }
}

void add_ways(const Sums& sums, std::string& text) {
  const auto out = std::back_inserter(text);
  const std::vector<WayPlace> ways = busy_ways(sums);
  if (ways.empty()) return;
  fmt::format_to(out, "{:<17}{:<17}{:>10}{:>11}{:>7}{:>12}{:>7}{:>11}\n", "from", "to", "sent",
                 "received", "again", "round trip", "busy", "peer full");
  for (std::size_t i = 0; i < std::min(kMostShown, ways.size()); ++i) {
    const Way& way = ways[i]->second;
    fmt::format_to(out, "{:<17}{:<17}{:>10}{:>11}{:>7}{:>12}{:>5.0f} %{:>9.0f} %\n",
                   printable(ways[i]->first.first), printable(ways[i]->first.second),
                   size_text(way.sent_bytes), size_text(way.received_bytes), way.sent_again,
                   span_text(way.round_trip_s), 100 * way.busy_s / std::max(1e-9, sums.seconds),
                   way.busy_s > 0 ? 100 * way.peer_limited_s / way.busy_s : 0.0);
  }
  if (ways.size() > kMostShown)
    fmt::format_to(out, "and {} ways more: --json has them\n", ways.size() - kMostShown);
}

void add_devices(const Sums& sums, std::string& text) {
  std::size_t shown = 0;
  for (const auto& [name, device] : sums.devices) {
    if (!moved(device) || ++shown > kMostShown) continue;
    const double seconds = std::max(1e-9, sums.seconds);
    fmt::format_to(std::back_inserter(text), "{}: sends {} (peak {}), receives {}\n",
                   printable(name),
                   rate_text(8 * static_cast<double>(device.counts.sent) / seconds),
                   rate_text(device.peak_sent_bps),
                   rate_text(8 * static_cast<double>(device.counts.received) / seconds));
  }
}

}  // namespace

std::string watched_text(const record::Run& run, const Sums& sums, const std::string& packets,
                         const std::string& folder) {
  std::string text = text::verdict_text(run);
  fmt::format_to(std::back_inserter(text), "watched  {}{}{}\n", span_text(sums.seconds),
                 packets.empty() ? "" : "; ", printable(packets));
  add_steps(run, text);
  add_ways(sums, text);
  add_devices(sums, text);
  for (std::size_t i = 0; i < std::min(kMostShown, run.findings.size()); ++i)
    fmt::format_to(std::back_inserter(text), "  {}  {}\n", i + 1, printable(run.findings[i].text));
  if (folder.empty()) {
    text += "next: -o keeps it as a run for compare and report; watch the other hosts too\n";
  } else {
    fmt::format_to(std::back_inserter(text),
                   "next: trainwire compare {} OTHER; trainwire analyze {}/*.pcap with those of "
                   "the other hosts\n",
                   printable(folder), printable(folder));
  }
  return text;
}

record::Watched watched_of(const Sums& sums, int process, const std::string& packets) {
  record::Watched watched{.process = process, .seconds = sums.seconds, .packets = packets};
  for (const WayPlace& each : busy_ways(sums)) {
    const Way& way = each->second;
    watched.ways.push_back({.local = each->first.first,
                            .remote = each->first.second,
                            .connections = way.connections,
                            .sent_bytes = way.sent_bytes,
                            .received_bytes = way.received_bytes,
                            .sent_segments = way.sent_segments,
                            .sent_again = way.sent_again,
                            .round_trip_s = way.round_trip_s,
                            .least_round_trip_s = way.least_round_trip_s,
                            .busy_s = way.busy_s,
                            .peer_limited_s = way.peer_limited_s,
                            .buffer_limited_s = way.buffer_limited_s});
  }
  for (const auto& [name, device] : sums.devices) {
    if (!moved(device)) continue;
    record::WatchedDevice& one =
        watched.devices.emplace_back(record::WatchedDevice{.name = name,
                                                           .sent_bytes = device.counts.sent,
                                                           .received_bytes = device.counts.received,
                                                           .dropped_packets = device.counts.dropped,
                                                           .errors = device.counts.errors,
                                                           .peak_sent_bps = device.peak_sent_bps});
    if (device.rate_bps > 0) one.rate_bps = device.rate_bps;
  }
  for (const auto& [name, count] : sums.rdma) watched.rdma_counters.push_back({name, count});
  return watched;
}

void write_watched(const record::Watched& watched, const Series& series, double began_s,
                   record::RunFolder& folder) {
  result::TableFile& ways = folder.table("ways");
  for (const record::WatchedWay& way : watched.ways) {
    ways.row({way.local, way.remote, way.connections, way.sent_bytes, way.received_bytes,
              way.sent_segments, way.sent_again, way.round_trip_s, way.least_round_trip_s,
              way.busy_s, way.peer_limited_s, way.buffer_limited_s});
  }
  result::TableFile& samples = folder.table("samples");
  for (const Series::Row& row : series.rows()) {
    const auto time_ns = std::llround(1e9 * (began_s + row.time_s));
    for (std::size_t i = 0; i < row.counts.size(); ++i) {
      samples.row({time_ns, series.names()[i], row.counts[i].sent, row.counts[i].received, 0,
                   row.counts[i].dropped, 0, 0});
    }
  }
}

}  // namespace tw::attach
