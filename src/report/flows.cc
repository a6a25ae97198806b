// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/flows.h"

#include "trainwire/base/natural.h"
#include "trainwire/report/reduce.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

struct FlowClass {
  std::vector<double> bytes, duration_s, rate_bps, rtt_s;
};

constexpr double kNoEnd = std::numeric_limits<double>::infinity();
constexpr std::array kSizeBounds{0.0, 1e5, 1e7, kNoEnd};

std::size_t size_class(double bytes) {
  std::size_t i = 0;
  while (bytes >= kSizeBounds[i + 1]) ++i;
  return i;
}

struct Completions {
  std::vector<double> times_s;
  std::size_t unfinished = 0;
};

using Bytes2 = std::map<std::pair<std::string, std::string>, double>;

std::vector<std::string> largest_hosts(const Bytes2& pairs, std::size_t most, std::size_t& all) {
  std::map<std::string, double, NaturalLess> moved;
  for (const auto& [pair, bytes] : pairs) {
    moved[pair.first] += bytes;
    moved[pair.second] += bytes;
  }
  all = moved.size();
  std::vector<std::string> hosts;
  for (const auto& [host, bytes] : moved) hosts.push_back(host);
  if (hosts.size() <= most) return hosts;
  std::stable_sort(hosts.begin(), hosts.end(),
                   [&](const auto& a, const auto& b) { return moved[a] > moved[b]; });
  hosts.resize(most);
  std::sort(hosts.begin(), hosts.end(), NaturalLess());
  return hosts;
}

}  // namespace

ordered_json flows_document(result::TableReader& table, const Limits& limits) {
  std::map<std::string, FlowClass> classes;
  const auto name = table.column("class"), size = table.column("stream_bytes");
  const auto first = table.column("first_ns"), last = table.column("last_ns");
  const auto rtt = table.column("rtt_mean_ns");
  while (table.next()) {
    const auto bytes = table.number(size);
    const auto from = table.integer(first), to = table.integer(last);
    if (!bytes || !from || !to) continue;
    FlowClass& flows = classes[std::string(table.text(name))];
    flows.bytes.push_back(*bytes);
    if (*to > *from) {
      const double seconds = static_cast<double>(*to - *from) * 1e-9;
      flows.duration_s.push_back(seconds);
      flows.rate_bps.push_back(*bytes * 8 / seconds);
    }
    if (const auto mean = table.number(rtt)) flows.rtt_s.push_back(*mean * 1e-9);
  }
  ordered_json document = ordered_json::object();
  for (const auto& [label, flows] : classes) {
    document[label] = {{"bytes", distribution(flows.bytes, limits.quantiles)},
                       {"duration_s", distribution(flows.duration_s, limits.quantiles)},
                       {"rate_bps", distribution(flows.rate_bps, limits.quantiles)},
                       {"rtt_s", distribution(flows.rtt_s, limits.quantiles)}};
  }
  return document;
}

ordered_json cross_flows_document(result::TableReader& table, const Limits& limits) {
  std::map<std::pair<std::int64_t, std::size_t>, Completions> all;
  const auto traffic = table.column("traffic"), size = table.column("bytes");
  const auto start = table.column("start_ns"), end = table.column("end_ns");
  while (table.next()) {
    const auto number = table.integer(traffic), from = table.integer(start);
    const auto bytes = table.number(size);
    if (!number || !from || !bytes) continue;
    Completions& completions = all[{*number, size_class(*bytes)}];
    if (const auto to = table.integer(end)) {
      completions.times_s.push_back(static_cast<double>(*to - *from) * 1e-9);
    } else {
      ++completions.unfinished;
    }
  }
  ordered_json list = ordered_json::array();
  for (const auto& [key, completions] : all) {
    const double to = kSizeBounds[key.second + 1];
    list.push_back({{"traffic", key.first},
                    {"from_bytes", kSizeBounds[key.second]},
                    {"to_bytes", to == kNoEnd ? ordered_json() : ordered_json(to)},
                    {"completion_s", distribution(completions.times_s, limits.quantiles)},
                    {"unfinished", completions.unfinished}});
  }
  return list;
}

ordered_json matrix_document(result::TableReader& table, const Limits& limits) {
  Bytes2 pairs;
  const auto from = table.column("from"), to = table.column("to");
  const auto bytes = table.column("wire_bytes");
  while (table.next()) {
    if (const auto count = table.number(bytes)) {
      pairs[{std::string(table.text(from)), std::string(table.text(to))}] += *count;
    }
  }
  std::size_t all = 0;
  const auto hosts = largest_hosts(pairs, limits.matrix_hosts, all);
  ordered_json matrix = ordered_json::array();
  for (const std::string& source : hosts) {
    std::vector<double> line;
    for (const std::string& sink : hosts) {
      const auto found = pairs.find({source, sink});
      line.push_back(found == pairs.end() ? 0 : found->second);
    }
    matrix.push_back(line);
  }
  return {{"hosts", hosts}, {"bytes", matrix}, {"left_off", all - hosts.size()}};
}

}  // namespace tw::report
