// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/health.h"

#include "trainwire/base/natural.h"
#include "trainwire/report/packed.h"
#include "trainwire/report/reduce.h"
#include "trainwire/result/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

/// Calls `take` with every row that has a time.
void each_row(const std::string& path,
              const std::function<void(const result::TableReader&, std::int64_t time_ns)>& take) {
  std::ifstream file = result::open_table(path);
  result::TableReader table(file);
  const auto time = table.column("time_ns");
  while (table.next()) {
    if (const auto time_ns = table.time_ns(time)) take(table, *time_ns);
  }
}

ordered_json begun(TimeSpan span, std::int64_t origin_ns, std::size_t buckets) {
  return {{"start_s", static_cast<double>(span.from_ns - origin_ns) * 1e-9},
          {"bucket_s", TimeBuckets(span, buckets).width_s()}};
}

/// As many buckets as give each about two rows of `rows` that came one after another.
std::size_t buckets_for(std::size_t rows, const Limits& limits) {
  return std::clamp<std::size_t>(rows / 2, 1, limits.series_buckets / 2);
}

struct Connection {
  std::size_t samples = 0;
  std::size_t busy = 0;  ///< samples with something queued
  double retransmitted = 0;
  double rtt_sum_s = 0;
  double rtt_max_s = 0;
};
using Connections = std::map<std::string, Connection>;

std::string connection_name(const result::TableReader& table) {
  const auto field = [&](std::string_view name) { return table.text(table.column(name)); };
  return fmt::format("{} rank {} > {}{}{}", field("job"), field("rank"), field("peer"),
                     field("lane") == "0" ? "" : " lane ",
                     field("lane") == "0" ? "" : field("lane"));
}

void count(Connection& connection, const result::TableReader& table) {
  const double rtt_s = table.number(table.column("rtt_ns")).value_or(0) * 1e-9;
  ++connection.samples;
  connection.busy += table.number(table.column("queued_bytes")).value_or(0) > 0 ? 1 : 0;
  connection.retransmitted = std::max(
      connection.retransmitted, table.number(table.column("retransmitted_packets")).value_or(0));
  connection.rtt_sum_s += rtt_s;
  connection.rtt_max_s = std::max(connection.rtt_max_s, rtt_s);
}

/// Those that had the most to send, after the one with the longest round trip of all: what a title
/// names is drawn.
std::vector<std::string> chosen(const Connections& all, std::size_t most) {
  std::vector<std::string> names;
  for (const auto& [name, connection] : all) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const auto& a, const auto& b) { return all.at(a).busy > all.at(b).busy; });
  const auto longest = std::max_element(
      names.begin(), names.end(),
      [&](const auto& a, const auto& b) { return all.at(a).rtt_max_s < all.at(b).rtt_max_s; });
  std::rotate(names.begin(), longest, std::next(longest));
  if (names.size() > most) names.resize(most);
  return names;
}

struct ConnectionSeries {
  TimeBuckets rtt, window, retransmissions;
};

ordered_json connection_document(const std::string& name, const Connection& connection,
                                 const ConnectionSeries& series) {
  return {
      {"name", name},
      {"samples", connection.samples},
      {"retransmitted", connection.retransmitted},
      {"rtt_mean_s", short_number(connection.rtt_sum_s / static_cast<double>(connection.samples))},
      {"rtt_max_s", short_number(connection.rtt_max_s)},
      {"rtt", packed(series.rtt.means())},
      {"rtt_max", packed(series.rtt.largest())},
      {"window", packed(series.window.largest())},
      {"retransmissions", packed(series.retransmissions.last())}};
}

/// What was seen of the queue before a host's link.
struct Queue {
  std::size_t samples = 0;
  double fullest = 0;  ///< bytes
};

std::vector<std::string> fullest(const std::map<std::string, Queue, NaturalLess>& all,
                                 std::size_t most) {
  std::vector<std::string> hosts;
  for (const auto& [host, queue] : all) hosts.push_back(host);
  std::stable_sort(hosts.begin(), hosts.end(), [&](const auto& a, const auto& b) {
    return all.at(a).fullest > all.at(b).fullest;
  });
  if (hosts.size() > most) hosts.resize(most);
  return hosts;
}

/// Both queues of each link: that in front of what it sends, and "to" it where it was counted.
template <typename Take>
void each_queue(const std::string& path, const Take& take) {
  each_row(path, [&](const result::TableReader& table, std::int64_t time_ns) {
    const std::string link(table.text(table.column("host")));
    if (const auto bytes = table.number(table.column("queue_bytes"))) take(link, time_ns, *bytes);
    const auto other = table.number(table.column("receiving_queue_bytes"));
    if (other) take("to " + link, time_ns, *other);
  });
}

}  // namespace

ordered_json sockets_document(const std::string& path, std::int64_t origin_ns,
                              const Limits& limits) {
  TimeSpan span;
  Connections all;
  each_row(path, [&](const result::TableReader& table, std::int64_t time_ns) {
    span.include(time_ns);
    count(all[connection_name(table)], table);
  });
  if (span.empty()) return nullptr;
  const auto names = chosen(all, limits.connections);
  const std::size_t buckets = buckets_for(all.at(names.front()).samples, limits);
  std::map<std::string, ConnectionSeries> series;
  for (const std::string& name : names) {
    const TimeBuckets empty(span, buckets);
    series.emplace(name, ConnectionSeries{empty, empty, empty});
  }
  each_row(path, [&](const result::TableReader& table, std::int64_t time_ns) {
    const auto found = series.find(connection_name(table));
    if (found == series.end()) return;
    const auto add = [&](TimeBuckets& to, std::string_view column, double unit) {
      if (const auto value = table.number(table.column(column))) to.add(time_ns, *value * unit);
    };
    add(found->second.rtt, "rtt_ns", 1e-9);
    add(found->second.window, "window_bytes", 1);
    add(found->second.retransmissions, "retransmitted_packets", 1);
  });
  ordered_json document = begun(span, origin_ns, buckets);
  document["connections"] = ordered_json::array();
  for (const std::string& name : names) {
    document["connections"].push_back(connection_document(name, all.at(name), series.at(name)));
  }
  document["left_off"] = all.size() - names.size();
  return document;
}

ordered_json queues_document(const std::string& path, std::int64_t origin_ns,
                             const Limits& limits) {
  TimeSpan span;
  std::map<std::string, Queue, NaturalLess> rows;
  each_queue(path, [&](const std::string& name, std::int64_t time_ns, double bytes) {
    span.include(time_ns);
    Queue& queue = rows[name];
    ++queue.samples;
    queue.fullest = std::max(queue.fullest, bytes);
  });
  if (span.empty()) return nullptr;
  const std::size_t buckets = buckets_for(rows.begin()->second.samples, limits);
  const std::vector<std::string> names = fullest(rows, limits.hosts);
  std::map<std::string, TimeBuckets> queues;
  for (const std::string& name : names) queues.emplace(name, TimeBuckets(span, buckets));
  each_queue(path, [&](const std::string& name, std::int64_t time_ns, double bytes) {
    const auto found = queues.find(name);
    if (found != queues.end()) found->second.add(time_ns, bytes);
  });
  ordered_json document = begun(span, origin_ns, buckets);
  document["hosts"] = ordered_json::array();
  for (const std::string& name : names) {
    document["hosts"].push_back({{"name", name}, {"queue", packed(queues.at(name).largest())}});
  }
  document["left_off"] = rows.size() - queues.size();
  return document;
}

ordered_json load_document(const std::string& path, std::int64_t origin_ns, const Limits& limits) {
  TimeSpan span;
  std::size_t rows = 0;
  each_row(path, [&](const result::TableReader&, std::int64_t time_ns) {
    span.include(time_ns);
    ++rows;
  });
  if (span.empty()) return nullptr;
  const std::size_t buckets = buckets_for(rows, limits);
  TimeBuckets busy(span, buckets), steal(span, buckets), wait(span, buckets);
  each_row(path, [&](const result::TableReader& table, std::int64_t time_ns) {
    busy.add(time_ns, table.number(table.column("busy_share")).value_or(0));
    steal.add(time_ns, table.number(table.column("steal_share")).value_or(0));
    wait.add(time_ns, table.number(table.column("wait_share")).value_or(0));
  });
  ordered_json document = begun(span, origin_ns, buckets);
  document["busy"] = packed(busy.means());
  document["steal"] = packed(steal.means());
  document["wait"] = packed(wait.means());
  return document;
}

}  // namespace tw::report
