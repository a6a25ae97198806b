// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/captured_network.h"

#include "trainwire/result/table_reader.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace tw::like {
namespace {

constexpr std::int64_t kSpan_ns = 10'000'000;
constexpr double kLeastShare = 0.1;  ///< of the bytes of the side that moves most

constexpr double kHighest = 0.25;
constexpr double kUsual = 0.5;
constexpr std::int64_t kLeastBytes = 1000;  ///< of a pair in a step; less is a word in between

using Side = std::pair<std::string, bool>;
/// Bytes by span of time.
using Spans = std::map<std::int64_t, double>;

std::map<Side, Spans> spans_in(std::istream& file, std::int64_t& span_ns) {
  std::map<Side, Spans> sides;
  result::TableReader table(file);
  const auto scope = table.column("scope");
  const auto from = table.column("from");
  const auto to = table.column("to");
  const auto start = table.column("start_ns");
  const auto width = table.column("width_ns");
  const auto bytes = table.column("wire_bytes");
  while (table.next()) {
    if (table.text(scope) != "pair") continue;
    const auto at = table.time_ns(start);
    const auto count = table.number(bytes);
    if (!at || !count) continue;
    span_ns = std::max(span_ns, table.integer(width).value_or(0));
    sides[{std::string(table.text(from)), true}][*at / span_ns] += *count;
    sides[{std::string(table.text(to)), false}][*at / span_ns] += *count;
  }
  return sides;
}

double sum_of(const Spans& spans) {
  double sum = 0;
  for (const auto& [at, bytes] : spans) sum += bytes;
  return sum;
}

/// A share of all bytes are in spans that hold as much or more.
double bytes_at(const Spans& spans, double share) {
  std::vector<double> sizes;
  for (const auto& [at, bytes] : spans) sizes.push_back(bytes);
  std::sort(sizes.rbegin(), sizes.rend());
  double left = sum_of(spans) * share;
  for (const double size : sizes) {
    left -= size;
    if (left <= 0) return size;
  }
  return 0;
}

/// Spans from the first to the last of all sides.
double lasting(const std::map<Side, Spans>& sides) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const auto& [side, spans] : sides) {
    first = std::min(first, spans.begin()->first);
    last = std::max(last, spans.rbegin()->first);
  }
  return static_cast<double>(last - first + 1);
}

/// When a host sent its first byte of each step, and received its last.
struct Talk {
  std::map<std::int64_t, std::int64_t> first_sent_ns = {};
  std::map<std::int64_t, std::int64_t> last_received_ns = {};

  std::vector<double> silences_s() const {
    std::vector<double> silences;
    for (const auto& [step, sent] : first_sent_ns) {
      const auto before = last_received_ns.find(step - 1);
      if (before == last_received_ns.end()) continue;
      silences.push_back(1e-9 * static_cast<double>(sent - before->second));
    }
    return silences;
  }
};

std::map<std::string, Talk> talks_in(std::istream& file) {
  std::map<std::string, Talk> talks;
  result::TableReader table(file);
  const auto iteration = table.column("iteration");
  const auto from = table.column("from");
  const auto to = table.column("to");
  const auto bytes = table.column("gradient_bytes");
  const auto first = table.column("first_ns");
  const auto last = table.column("last_ns");
  while (table.next()) {
    const auto step = table.integer(iteration);
    const auto begin = table.time_ns(first);
    const auto end = table.time_ns(last);
    if (!step || !begin || !end || table.integer(bytes).value_or(0) < kLeastBytes) continue;
    auto& sent = talks[std::string(table.text(from))].first_sent_ns;
    const auto earlier = sent.emplace(*step, *begin).first;
    earlier->second = std::min(earlier->second, *begin);
    std::int64_t& received = talks[std::string(table.text(to))].last_received_ns[*step];
    received = std::max(received, *end);
  }
  return talks;
}

}  // namespace

Sides side_rates(const std::string& folder) {
  Sides rates;
  const std::string path = folder + "/windows.csv";
  std::ifstream file = result::open_table(path);
  if (!file.is_open()) return rates;
  std::int64_t span_ns = kSpan_ns;
  const std::map<Side, Spans> sides = spans_in(file, span_ns);
  result::require_read(file, path);
  double most = 0;
  for (const auto& [side, spans] : sides) most = std::max(most, sum_of(spans));
  const double bps = 8e9 / static_cast<double>(span_ns);
  for (const auto& [side, spans] : sides) {
    if (sum_of(spans) < kLeastShare * most) continue;
    rates[side] = {.highest_bps = bps * bytes_at(spans, kHighest),
                   .usual_bps = bps * bytes_at(spans, kUsual),
                   .mean_bps = bps * sum_of(spans) / lasting(sides)};
  }
  return rates;
}

std::optional<stats::Estimate> shortest_round_trip_s(const std::string& folder) {
  const std::string path = folder + "/flows.csv";
  std::ifstream file = result::open_table(path);
  if (!file.is_open()) return {};
  std::vector<double> times;
  result::TableReader table(file);
  const auto of_class = table.column("class");
  const auto shortest = table.column("rtt_min_ns");
  while (table.next()) {
    const auto ns = table.integer(shortest);
    if (table.text(of_class) == "gradient" && ns && *ns > 0) {
      times.push_back(1e-9 * static_cast<double>(*ns));
    }
  }
  result::require_read(file, path);
  return times.empty() ? std::nullopt : std::optional(stats::median_estimate(times));
}

std::optional<stats::Estimate> shortest_silence_s(const std::string& folder, double least_s) {
  const std::string path = folder + "/iteration_pairs.csv";
  std::ifstream file = result::open_table(path);
  if (!file.is_open()) return {};
  const std::map<std::string, Talk> talks = talks_in(file);
  result::require_read(file, path);
  std::optional<stats::Estimate> shortest;
  for (const auto& [host, talk] : talks) {
    const std::vector<double> silences = talk.silences_s();
    if (silences.empty() || stats::median(silences) < least_s) continue;
    const auto estimate = stats::median_estimate(silences);
    if (!shortest || estimate.value < shortest->value) shortest = estimate;
  }
  return shortest;
}

}  // namespace tw::like
