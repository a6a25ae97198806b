// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/throughput.h"

#include "trainwire/base/error.h"
#include "trainwire/report/packed.h"
#include "trainwire/report/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tw::report {
namespace {

constexpr std::size_t kRateBins = 40;

using SeriesByName = std::map<std::pair<std::string, std::string>, Series>;

Series& named(SeriesByName& all, std::string group, std::string name) {
  Series& series = all[{group, name}];
  series.group = std::move(group);
  series.name = std::move(name);
  return series;
}

void append(Series& series, std::int64_t width_ns, const Window& window) {
  series.width_ns = std::max(series.width_ns, width_ns);
  series.windows.push_back(window);
}

void sort_and_merge(Series& series) {
  auto& windows = series.windows;
  std::sort(windows.begin(), windows.end(),
            [](const Window& a, const Window& b) { return a.start_ns < b.start_ns; });
  std::size_t kept = 0;
  for (const Window& window : windows) {
    if (kept > 0 && windows[kept - 1].start_ns == window.start_ns) {
      windows[kept - 1].bytes = sum_of(windows[kept - 1].bytes, window.bytes);
    } else {
      windows[kept++] = window;
    }
  }
  windows.resize(kept);
}

std::size_t limit_of(const Series& series, const Limits& limits) {
  if (series.group == "total") return 1;
  return series.group == "host" ? 2 * limits.hosts : limits.pairs;
}

int place_of(const Series& series) {
  if (series.group == "total") return 0;
  return series.group == "host" ? 1 : 2;
}

/// Largest first within a group, and no more of a group than its limit; takes them out of `all`.
std::vector<Series> selected(SeriesByName& all, const Limits& limits) {
  std::vector<Series> list;
  for (auto& [key, series] : all) list.push_back(std::move(series));
  std::stable_sort(list.begin(), list.end(), [](const Series& a, const Series& b) {
    return std::pair(place_of(a), -a.bytes()) < std::pair(place_of(b), -b.bytes());
  });
  std::map<std::string, std::size_t> kept;
  std::erase_if(
      list, [&](const Series& series) { return kept[series.group]++ >= limit_of(series, limits); });
  for (Series& series : list) sort_and_merge(series);
  return list;
}

/// One bucket of consecutive windows; rates in bit/s.
struct Bucket {
  double bytes = 0;
  double busiest = 0;
  double quietest = 0;
  std::int64_t seen = 0;
};

std::vector<Bucket> buckets_of(const Series& series, std::int64_t per, std::int64_t windows) {
  std::vector<Bucket> buckets(static_cast<std::size_t>((windows + per - 1) / per));
  const std::int64_t first = series.windows.front().start_ns;
  for (const Window& window : series.windows) {
    Bucket& bucket =
        buckets[static_cast<std::size_t>((window.start_ns - first) / series.width_ns / per)];
    const auto bytes = static_cast<double>(window.bytes);
    bucket.quietest = bucket.seen == 0 ? bytes : std::min(bucket.quietest, bytes);
    bucket.busiest = std::max(bucket.busiest, bytes);
    bucket.bytes += bytes;
    ++bucket.seen;
  }
  return buckets;
}

/// Rates of all windows, those that the table leaves out too: these are only counted, for a table
/// may leave out any number.
nlohmann::ordered_json rates_document(const Series& series, std::int64_t windows) {
  const double width_s = static_cast<double>(series.width_ns) * 1e-9;
  std::vector<double> rates;
  rates.reserve(series.windows.size());
  for (const Window& window : series.windows) {
    rates.push_back(static_cast<double>(window.bytes) * 8 / width_s);
  }
  auto document = histogram_document(rates, {.bins = kRateBins, .low = 0.0});
  const std::int64_t quiet = windows - static_cast<std::int64_t>(rates.size());
  auto& lowest = document["counts"][0];
  lowest = lowest.get<std::int64_t>() + std::max<std::int64_t>(0, quiet);
  return document;
}

/// Rows of one pair follow one another, so that its series need not be looked up for each.
class PairSeries {
 public:
  explicit PairSeries(SeriesByName& all) : all_(&all) {}

  void add(std::string_view from, std::string_view to, std::int64_t width_ns,
           const Window& window) {
    if (pair_ == nullptr || from != from_ || to != to_) look_up(from, to);
    for (Series* const series : {pair_, sends_, receives_}) append(*series, width_ns, window);
  }

 private:
  void look_up(std::string_view from, std::string_view to) {
    from_ = from;
    to_ = to;
    pair_ = &named(*all_, "pair", fmt::format("{} > {}", from, to));
    sends_ = &named(*all_, "host", from_ + " sends");
    receives_ = &named(*all_, "host", to_ + " receives");
  }

  SeriesByName* all_;
  std::string from_, to_;
  Series *pair_ = nullptr, *sends_ = nullptr, *receives_ = nullptr;
};

}  // namespace

std::int64_t Series::bytes() const {
  std::int64_t sum = 0;
  for (const Window& window : windows) sum = sum_of(sum, window.bytes);
  return sum;
}

WindowTable read_windows(result::TableReader& table, const std::set<std::int64_t>& flows,
                         const Limits& limits) {
  SeriesByName all;
  PairSeries pairs(all);
  WindowTable made;
  const auto scope = table.column("scope"), from = table.column("from"), to = table.column("to");
  const auto start = table.column("start_ns"), width = table.column("width_ns");
  const auto bytes = table.column("wire_bytes"), flow = table.column("flow");
  while (table.next()) {
    const auto start_ns = table.time_ns(start), width_ns = table.time_ns(width);
    const auto count = table.integer(bytes);
    if (!start_ns || !width_ns || !count || *width_ns == 0 || *count < 0) continue;
    const Window window{*start_ns, *count};
    if (table.text(scope) == "total") {
      append(named(all, "total", ""), *width_ns, window);
    } else if (table.text(scope) == "pair") {
      pairs.add(table.text(from), table.text(to), *width_ns, window);
    } else if (const auto number = table.integer(flow); number && flows.contains(*number)) {
      append(made.flows[*number], *width_ns, window);
    }
  }
  made.series = selected(all, limits);
  for (auto& [number, series] : made.flows) {
    series.group = "flow";
    sort_and_merge(series);
  }
  return made;
}

nlohmann::ordered_json series_document(const Series& series, std::int64_t origin_ns,
                                       std::size_t buckets) {
  check(!series.windows.empty() && series.width_ns > 0 && buckets >= 1, "a series has windows");
  const std::int64_t first = series.windows.front().start_ns;
  const std::int64_t windows = (series.windows.back().start_ns - first) / series.width_ns + 1;
  const auto most = static_cast<std::int64_t>(buckets);
  const std::int64_t per = (windows + most - 1) / most;
  const double width_s = static_cast<double>(series.width_ns) * 1e-9;
  std::vector<double> mean, low, high;
  for (const Bucket& bucket : buckets_of(series, per, windows)) {
    const auto there = std::min(per, windows - static_cast<std::int64_t>(mean.size()) * per);
    mean.push_back(bucket.bytes * 8 / (width_s * static_cast<double>(there)));
    low.push_back(bucket.seen < there ? 0 : bucket.quietest * 8 / width_s);
    high.push_back(bucket.busiest * 8 / width_s);
  }
  nlohmann::ordered_json document{{"group", series.group},
                                  {"name", series.name},
                                  {"bytes", series.bytes()},
                                  {"start_s", static_cast<double>(first - origin_ns) * 1e-9},
                                  {"bucket_s", width_s * static_cast<double>(per)},
                                  {"window_s", width_s},
                                  {"mean", packed(mean)},
                                  {"rates", rates_document(series, windows)}};
  if (per > 1) {
    document["min"] = packed(low);
    document["max"] = packed(high);
  }
  return document;
}

nlohmann::ordered_json close_document(const Series& series, std::int64_t origin_ns,
                                      std::int64_t middle_ns, std::size_t most) {
  check(!series.windows.empty() && series.width_ns > 0 && most >= 1, "a series has windows");
  const std::int64_t first = series.windows.front().start_ns;
  const std::int64_t windows = (series.windows.back().start_ns - first) / series.width_ns + 1;
  // The same stretch of time of all series: outside of it nothing is known of those that go on.
  const std::int64_t middle = (middle_ns - first) / series.width_ns;
  const auto kept = static_cast<std::int64_t>(std::min<std::size_t>(most, INT64_MAX / 4));
  const std::int64_t begin = middle - kept / 2;
  const std::int64_t skipped = std::clamp<std::int64_t>(begin, 0, windows);
  const std::int64_t count = std::clamp<std::int64_t>(begin + kept, 0, windows) - skipped;
  if (count <= 0) return nullptr;
  const double width_s = static_cast<double>(series.width_ns) * 1e-9;
  std::vector<double> rates(static_cast<std::size_t>(count), 0);
  bool any = false;
  for (const Window& window : series.windows) {
    const std::int64_t place = (window.start_ns - first) / series.width_ns - skipped;
    if (place < 0 || place >= count) continue;
    rates[static_cast<std::size_t>(place)] += static_cast<double>(window.bytes) * 8 / width_s;
    any = true;
  }
  if (!any) return nullptr;
  const std::int64_t start_ns = first + skipped * series.width_ns;
  return {{"name", series.name},
          {"start_s", static_cast<double>(start_ns - origin_ns) * 1e-9},
          {"window_s", width_s},
          {"rates", packed(rates)}};
}

}  // namespace tw::report
