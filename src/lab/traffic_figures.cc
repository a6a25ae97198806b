// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/traffic_figures.h"

#include "trainwire/result/csv.h"
#include "trainwire/result/table_reader.h"
#include "trainwire/traffic/frame.h"
#include "trainwire/traffic/task.h"
#include "trainwire/usage/cross_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace tw::lab {
namespace {

using summarise::CaptureResult;

constexpr std::int64_t kSameSending = 2'000'000;  ///< ns; a longer pause is none of the link's

/// Bytes a second while bursts of `gap_ns` apart or less go on. A burst lasts from its first packet
/// to its last: the first one's bytes were sent before that and do not count.
double sending_rate(std::vector<flow::Burst> bursts, std::int64_t gap_ns) {
  std::sort(bursts.begin(), bursts.end(),
            [](const flow::Burst& a, const flow::Burst& b) { return a.start_ns < b.start_ns; });
  double time_ns = 0;
  double bytes = 0;
  for (std::size_t i = 0; i < bursts.size();) {
    const flow::Burst& first = bursts[i];
    double joined = 0;
    std::int64_t until = first.end_ns;
    for (; i < bursts.size() && bursts[i].start_ns <= until + gap_ns; ++i) {
      joined += static_cast<double>(bursts[i].bytes);
      until = std::max(until, bursts[i].end_ns);
    }
    time_ns += static_cast<double>(until - first.start_ns);
    bytes += joined - static_cast<double>(first.bytes) / first.packets;
  }
  return time_ns > 0 ? 1e9 * bytes / time_ns : 0;
}

/// Whether a way takes a port that cross traffic takes.
bool is_shared(const network::NetPlan& plan, int from, int to,
               const std::vector<CrossTraffic>& entries) {
  const std::vector<int> way = plan.path(from, to);
  return std::any_of(entries.begin(), entries.end(), [&](const CrossTraffic& entry) {
    if (entry.is_silent()) return false;
    const std::vector<int> other = plan.path(entry.from, entry.to);
    return std::find_first_of(way.begin(), way.end(), other.begin(), other.end()) != way.end();
  });
}

/// A cell for a whole number, or an empty one.
result::Cell cell(const std::string& text) {
  const auto value = result::parsed<std::int64_t>(text);
  return value ? result::Cell(*value) : result::Cell();
}

}  // namespace

std::vector<record::GradientPair> gradient_pairs(const CaptureResult& result,
                                                 const network::NetPlan& plan,
                                                 const std::vector<CrossTraffic>& entries) {
  std::map<std::pair<std::string, std::string>, std::vector<flow::Burst>> sums;
  const auto& flows = result.traffic.flows;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (result.analysis.classes[i] != diagnose::FlowClass::Gradient) continue;
    auto& sum = sums[{result.traffic.addresses[flows[i].key.source].text(),
                      result.traffic.addresses[flows[i].key.destination].text()}];
    sum.insert(sum.end(), flows[i].bursts.begin(), flows[i].bursts.end());
  }
  const auto host = [&](const std::string& address) {
    const auto at = std::find_if(plan.hosts.begin(), plan.hosts.end(),
                                 [&](const auto& h) { return h.address == address; });
    return static_cast<int>(at - plan.hosts.begin());
  };
  std::vector<record::GradientPair> pairs;
  for (auto& [ends, bursts] : sums) {
    const int from = host(ends.first);
    const int to = host(ends.second);
    const auto known = static_cast<int>(plan.hosts.size());
    const double rate = sending_rate(std::move(bursts), kSameSending);
    if (from == known || to == known || rate <= 0) continue;
    pairs.push_back({.from = plan.hosts[static_cast<std::size_t>(from)].name,
                     .to = plan.hosts[static_cast<std::size_t>(to)].name,
                     .sending_rate_bps = 8 * rate,
                     .shares_a_link = is_shared(plan, from, to, entries)});
  }
  return pairs;
}

record::CrossTraffic described(const TrafficResult& traffic,
                               std::vector<record::GradientPair> gradients) {
  std::vector<record::TrafficEntry> entries;
  for (std::size_t i = 0; i < traffic.entries.size(); ++i) {
    entries.push_back(usage::described(traffic.entries[i], traffic.outcomes[i]));
  }
  return usage::described(std::move(entries), std::move(gradients));
}

record::Check traffic_check(const TrafficResult& traffic, const CaptureResult& result) {
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::int64_t>> bounds;
  bool told = true;
  for (std::size_t i = 0; i < traffic.entries.size(); ++i) {
    const CrossTraffic& entry = traffic.entries[i];
    if (entry.is_silent()) continue;
    told = told && traffic.outcomes[i];
    if (!traffic.outcomes[i]) continue;
    const traffic::Outcome& outcome = *traffic.outcomes[i];
    auto& [least, most] = bounds[{entry.source.address, entry.sink.address}];
    least += outcome.acknowledged.count();
    most += outcome.sent.count() + outcome.framing.count();
  }
  // A sink answers some of what introduces flows, beside what is sent from its host.
  for (std::size_t i = 0; i < traffic.entries.size(); ++i) {
    const CrossTraffic& entry = traffic.entries[i];
    const auto back = bounds.find({entry.sink.address, entry.source.address});
    if (!traffic.outcomes[i] || back == bounds.end()) continue;
    back->second.second += traffic.outcomes[i]->framing.count() /
                           static_cast<std::int64_t>(traffic::kFrameBytes) *
                           static_cast<std::int64_t>(traffic::kAnswerBytes);
  }
  std::string first;
  std::int64_t least_sum = 0;
  std::int64_t most_sum = 0;
  std::int64_t sum = 0;
  for (const auto& [pair, range] : bounds) {
    const auto at = result.cross_bytes.find(pair);
    const std::int64_t seen = at == result.cross_bytes.end() ? 0 : at->second;
    least_sum += range.first;
    most_sum += range.second;
    sum += seen;
    if (seen >= range.first && seen <= range.second) continue;
    first = fmt::format("{} to {}: sources sent {} bytes, {} arrived, the wire shows {}",
                        pair.first, pair.second, range.second, range.first, seen);
  }
  return {.name = "traffic",
          .ok = told && first.empty(),
          .expected = fmt::format("{} to {} bytes by the sources", least_sum, most_sum),
          .found = fmt::format("{} bytes captured", sum),
          .text = !told           ? "not every source told what it sent"
                  : first.empty() ? "the wire shows the cross traffic that the sources tell of"
                                  : first};
}

void take_flows(const TrafficResult& traffic, record::RunFolder& folder) {
  if (traffic.entries.empty()) return;
  result::TableFile& table = folder.table("cross_flows");
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < traffic.entries.size(); ++i) {
    const std::string& path = traffic.entries[i].source.log;
    {
      std::ifstream file = result::open_if_there(path);
      std::string header;
      std::getline(file, header);
      for (std::string line; std::getline(file, line) && !file.eof();) {
        result::split_row(line, fields);
        if (fields.size() != 6) continue;  // cut off
        table.row({i, cell(fields[0]), cell(fields[1]), cell(fields[2]), cell(fields[3]),
                   cell(fields[4]), cell(fields[5])});
      }
    }
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

}  // namespace tw::lab
