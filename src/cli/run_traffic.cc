// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_traffic.h"

#include "trainwire/base/units.h"
#include "trainwire/traffic/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostEntries = 3;
constexpr std::int64_t kSameSending = 2'000'000;  ///< ns; a longer pause is none of the link's

/// As frames on the link.
double achieved_bps(const lab::CrossTraffic& entry,
                    const std::optional<traffic::Outcome>& outcome) {
  return outcome ? outcome->achieved.bits_per_second() / entry.payload_share : 0;
}

std::string entry_text(const lab::CrossTraffic& entry,
                       const std::optional<traffic::Outcome>& outcome) {
  if (entry.is_silent()) return fmt::format("{}: none asked for", entry.name);
  if (!outcome) return fmt::format("{}: cut off", entry.name);
  const double asked = entry.requested.bits_per_second();
  const double got = achieved_bps(entry, outcome);
  return fmt::format(
      "{}: asked {}, got {} ({:.1f} %), {} flows, {} unfinished{}, late p50 {} p99 {}", entry.name,
      readable(entry.requested), readable(BitRate(got)), 100 * got / asked, outcome->started,
      outcome->unfinished,
      outcome->unstarted > 0 ? fmt::format(", {} never started", outcome->unstarted) : "",
      readable(from_seconds(outcome->lateness_p50_s)),
      readable(from_seconds(outcome->lateness_p99_s)));
}

ordered_json entry_document(const lab::CrossTraffic& entry,
                            const std::optional<traffic::Outcome>& outcome) {
  ordered_json document{{"name", entry.name},
                        {"kind", traffic::name_of(entry.source.kind)},
                        {"capacity_bps", entry.capacity.bits_per_second()},
                        {"requested_bps", entry.requested.bits_per_second()},
                        {"achieved_bps", achieved_bps(entry, outcome)},
                        {"complete", outcome.has_value() || entry.is_silent()}};
  if (!outcome) return document;
  document["offered_bps"] = outcome->offered.bits_per_second() / entry.payload_share;
  const nlohmann::json told = traffic::to_json(*outcome);
  for (const char* key :
       {"acknowledged_bytes", "elapsed_s", "flows", "lateness", "completion", "datagrams"}) {
    if (told.contains(key)) document[key] = told[key];
  }
  return document;
}

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
               const std::vector<lab::CrossTraffic>& entries) {
  const std::vector<int> way = plan.path(from, to);
  return std::any_of(entries.begin(), entries.end(), [&](const lab::CrossTraffic& entry) {
    if (entry.is_silent()) return false;
    const std::vector<int> other = plan.path(entry.from, entry.to);
    return std::find_first_of(way.begin(), way.end(), other.begin(), other.end()) != way.end();
  });
}

/// The mean of those that share a link with cross traffic, and of those that do not.
std::string gradients_text(const std::vector<GradientPair>& pairs) {
  std::array<double, 2> sums = {};
  std::array<int, 2> counts = {};
  for (const GradientPair& pair : pairs) {
    sums[pair.shared] += pair.rate_bps;
    ++counts[pair.shared];
  }
  if (counts[0] == 0 || counts[1] == 0) return {};
  const auto mean = [&](std::size_t i) { return readable(BitRate(sums[i] / counts[i])); };
  return fmt::format("  gradients, while sending: {} beside it, {} on links of their own\n",
                     mean(1), mean(0));
}

/// A cell for a whole number, or an empty one.
result::Cell cell(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace

std::string traffic_text(const TrafficView& view) {
  std::string text;
  for (std::size_t i = 0; i < std::min(view.entries.size(), kMostEntries); ++i) {
    text += fmt::format("cross traffic {}\n", entry_text(view.entries[i], view.outcomes[i]));
  }
  if (view.entries.size() > kMostEntries) {
    text += fmt::format("  and {} more in run.json\n", view.entries.size() - kMostEntries);
  }
  return text + gradients_text(view.gradients);
}

std::vector<GradientPair> gradient_pairs(const CaptureResult& result, const network::NetPlan& plan,
                                         const std::vector<lab::CrossTraffic>& entries) {
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
  std::vector<GradientPair> pairs;
  for (auto& [ends, bursts] : sums) {
    const int from = host(ends.first);
    const int to = host(ends.second);
    const auto known = static_cast<int>(plan.hosts.size());
    const double rate = sending_rate(std::move(bursts), kSameSending);
    if (from == known || to == known || rate <= 0) continue;
    pairs.push_back({.from = plan.hosts[static_cast<std::size_t>(from)].name,
                     .to = plan.hosts[static_cast<std::size_t>(to)].name,
                     .rate_bps = 8 * rate,
                     .shared = is_shared(plan, from, to, entries)});
  }
  return pairs;
}

ordered_json traffic_document(const TrafficView& view) {
  double requested = 0;
  double achieved = 0;
  BitRate capacity = view.entries.front().capacity;
  ordered_json entries = ordered_json::array();
  for (std::size_t i = 0; i < view.entries.size(); ++i) {
    requested += view.entries[i].requested.bits_per_second();
    achieved += achieved_bps(view.entries[i], view.outcomes[i]);
    capacity = std::min(capacity, view.entries[i].capacity);
    entries.push_back(entry_document(view.entries[i], view.outcomes[i]));
  }
  ordered_json gradients = ordered_json::array();
  for (const GradientPair& pair : view.gradients) {
    gradients.push_back({{"from", pair.from},
                         {"to", pair.to},
                         {"sending_rate_bps", pair.rate_bps},
                         {"shares_a_link", pair.shared}});
  }
  return {{"capacity_bps", capacity.bits_per_second()},
          {"requested_bps", requested},
          {"achieved_bps", achieved},
          {"entries", entries},
          {"gradient_pairs", gradients}};
}

RunCheck traffic_check(const TrafficView& view, const CaptureResult& result) {
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, std::int64_t>> bounds;
  bool told = true;
  for (std::size_t i = 0; i < view.entries.size(); ++i) {
    const lab::CrossTraffic& entry = view.entries[i];
    if (entry.is_silent()) continue;
    told = told && view.outcomes[i];
    if (!view.outcomes[i]) continue;
    const traffic::Outcome& outcome = *view.outcomes[i];
    auto& [least, most] = bounds[{entry.source.address, entry.sink.address}];
    least += outcome.acknowledged.count();
    most += outcome.sent.count() + outcome.framing.count();
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

void take_flows(const TrafficView& view, result::RunFolder& folder) {
  if (view.is_empty()) return;
  result::TableFile& table = folder.table("cross_flows");
  for (std::size_t i = 0; i < view.entries.size(); ++i) {
    const std::string& path = view.entries[i].source.log;
    {
      std::ifstream file(path);
      std::string header;
      std::getline(file, header);
      for (std::string line; std::getline(file, line) && !file.eof();) {
        std::vector<result::Cell> cells;
        std::size_t begin = 0;
        for (std::size_t comma = 0; comma != line.npos; begin = comma + 1) {
          comma = line.find(',', begin);
          cells.push_back(cell(line.substr(begin, comma - begin)));
        }
        if (cells.size() != 6) continue;  // cut off
        table.row({static_cast<std::int64_t>(i), cells[0], cells[1], cells[2], cells[3], cells[4],
                   cells[5]});
      }
    }
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

}  // namespace tw::cli
