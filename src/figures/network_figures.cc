// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/natural.h"
#include "trainwire/figures/figures.h"
#include "trainwire/report/throughput.h"
#include "trainwire/stats/quantile.h"
#include "trainwire/timeline/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace tw::figures {
namespace {

using result::TableReader;

constexpr std::int64_t kBuckets = 600;  // more than a column of paper can show
constexpr std::size_t kHosts = 16;
constexpr std::size_t kMatrixHosts = 64;
constexpr std::size_t kTicCharacters = 36;  ///< that fit beside each other below a matrix

/// Mean rates of a series in buckets that all series share.
struct Rates {
  std::string name;
  std::vector<double> gbit_s;
};

struct Buckets {
  std::int64_t first_ns;
  std::int64_t width_ns;
  std::size_t count;
};

bool is_sane(const report::Series& series) {
  return !series.windows.empty() && series.windows.front().start_ns >= 0 &&
         series.windows.back().start_ns <= timeline::kLastTime &&
         series.width_ns <= timeline::kLastTime / 4;
}

/// Of whole windows of the widest series.
Buckets buckets_for(const std::vector<report::Series>& all) {
  std::int64_t first = INT64_MAX, last = 0, width = 1;
  for (const report::Series& series : all) {
    first = std::min(first, series.windows.front().start_ns);
    last = std::max(last, series.windows.back().start_ns + series.width_ns);
    width = std::max(width, series.width_ns);
  }
  const std::int64_t windows = (last - first + width - 1) / width;
  const std::int64_t per = (windows + kBuckets - 1) / kBuckets;
  return {.first_ns = first,
          .width_ns = width * per,
          .count = static_cast<std::size_t>((windows + per - 1) / per)};
}

Rates rates_in(const Buckets& buckets, const report::Series& series) {
  Rates rates{.name = series.name, .gbit_s = std::vector<double>(buckets.count)};
  for (const report::Window& window : series.windows) {
    const auto at =
        static_cast<std::size_t>((window.start_ns - buckets.first_ns) / buckets.width_ns);
    rates.gbit_s[std::min(at, buckets.count - 1)] +=
        static_cast<double>(window.bytes) * 8 / static_cast<double>(buckets.width_ns);
  }
  return rates;
}

std::string rates_csv(const Buckets& buckets, const std::vector<Rates>& all) {
  std::string csv = "series,name,time_s,rate_gbit_s\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t at = 0; at < buckets.count; ++at) {
      const double time_s = static_cast<double>(at) * static_cast<double>(buckets.width_ns) * 1e-9;
      fmt::format_to(std::back_inserter(csv), "{},{},{:.9g},{:.6g}\n", i, csv_text(all[i].name),
                     time_s, all[i].gbit_s[at]);
    }
  }
  return csv;
}

Figure total_figure(const Buckets& buckets, const Rates& total) {
  Sheet sheet{.name = "throughput",
              .sentence = "Throughput of all captured traffic over time, mean of each bucket."};
  sheet.settings = {"set xlabel 'time (s)'", "set ylabel 'throughput (Gbit/s)'", "set yrange [0:*]",
                    "set xrange [0:*]", "set autoscale xfix"};
  sheet.plots = {
      fmt::format("'throughput.csv' skip 1 using 3:4 with filledcurves y1=0 fillstyle transparent "
                  "solid 0.2 fillcolor rgb '{}' "
                  "notitle",
                  colour(0)),
      fmt::format("'throughput.csv' skip 1 using 3:4 with lines linewidth 0.6 linecolor rgb '{}' "
                  "notitle",
                  colour(0))};
  return {.name = sheet.name, .csv = rates_csv(buckets, {total}), .script = script_of(sheet)};
}

/// The rate that fills a row: the highest, unless it is a rare peak that would flatten all others.
std::pair<double, bool> row_height(const std::vector<Rates>& hosts) {
  std::vector<double> all;
  for (const Rates& host : hosts) {
    for (const double rate : host.gbit_s) {
      if (rate > 0) all.push_back(rate);
    }
  }
  if (all.empty()) return {1, false};
  const double highest = *std::max_element(all.begin(), all.end());
  const double usual = stats::quantile(std::move(all), 0.98);
  return highest > 3 * usual ? std::pair(usual, true) : std::pair(highest, false);
}

/// A row for each host, for their bursts would hide one another on one axis.
Figure hosts_figure(const Buckets& buckets, const std::vector<Rates>& hosts) {
  const auto [height, is_cut] = row_height(hosts);
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    tics.push_back(fmt::format("{} {}", gnuplot_tic(hosts[i].name), i));
  }
  Sheet sheet{
      .name = "throughput_hosts",
      .sentence =
          "What each host sends over time (16 that move the most); all rows have the same scale.",
      .height_cm = std::clamp(2.0 + 0.75 * static_cast<double>(hosts.size()), 4.5, 14.0)};
  sheet.settings = {fmt::format("height = {:.4g}  # Gbit/s, of a row", height),
                    "set xlabel 'time (s)'",
                    fmt::format("set label 1 sprintf('row height: %.3g Gbit/s{}', height) at graph "
                                "1,1.04 right",
                                is_cut ? ", higher peaks are cut" : ""),
                    "set tmargin 2",
                    fmt::format("set ytics ({})", fmt::join(tics, ", ")),
                    fmt::format("set yrange [{}.15:-1]", hosts.size() - 1),
                    "set xrange [0:*]",
                    "set autoscale xfix"};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    sheet.plots.push_back(
        fmt::format("'throughput_hosts.csv' skip 1 using ($1=={} ? $3 : "
                    "NaN):($1):($1-0.92*($4>height ? height : $4)/height) "
                    "with filledcurves fillstyle solid 0.75 fillcolor rgb '{}' notitle",
                    i, colour(i)));
  }
  return {.name = sheet.name, .csv = rates_csv(buckets, hosts), .script = script_of(sheet)};
}

using Bytes2 = std::map<std::pair<std::string, std::string>, double>;

Bytes2 read_pairs(const timeline::RunPart& run) {
  Bytes2 pairs;
  timeline::with_table(run, "pairs", [&](TableReader& table) {
    const auto from = table.column("from"), to = table.column("to");
    const auto bytes = table.column("wire_bytes");
    while (table.next()) {
      const auto count = table.number(bytes);
      if (!count || *count < 0) continue;
      pairs[{std::string(table.text(from)), std::string(table.text(to))}] += *count;
    }
  });
  return pairs;
}

/// Those that move the most, by name.
std::vector<std::string> hosts_of(const Bytes2& pairs) {
  std::map<std::string, double, NaturalLess> moved;
  for (const auto& [pair, bytes] : pairs) {
    moved[pair.first] += bytes;
    moved[pair.second] += bytes;
  }
  std::vector<std::string> hosts;
  for (const auto& [host, bytes] : moved) hosts.push_back(host);
  if (hosts.size() <= kMatrixHosts) return hosts;
  std::stable_sort(hosts.begin(), hosts.end(),
                   [&](const auto& a, const auto& b) { return moved[a] > moved[b]; });
  hosts.resize(kMatrixHosts);
  std::sort(hosts.begin(), hosts.end(), NaturalLess());
  return hosts;
}

std::vector<std::string> matrix_settings(const std::vector<std::string>& hosts,
                                         const ShownUnit& unit) {
  std::vector<std::string> tics;
  std::size_t characters = 0;
  const std::size_t stride = (hosts.size() + 31) / 32;  // labels of more would touch
  for (std::size_t i = 0; i < hosts.size(); i += stride) {
    tics.push_back(fmt::format("{} {}", gnuplot_tic(hosts[i]), i));
    characters += hosts[i].size() + 2;
  }
  const std::string list =
      fmt::format("({}){}", fmt::join(tics, ", "), hosts.size() > 12 ? " font ',5'" : "");
  const std::size_t last = hosts.size() - 1;
  // viridis, bright where there is much, as on the page.
  const std::string palette =
      "set palette defined (0 '#440154', 1 '#414487', 2 '#2a788e', 3 '#22a884', 4 '#7ad151', "
      "5 '#fde725')";
  return {palette,
          "unset grid",
          "set size ratio -1",
          "set xlabel 'receiver'",
          "set label 1 'sender' at screen 0.03,0.56 center rotate  # a ylabel would leave the page",
          fmt::format("set cblabel 'sent on the wire ({})' offset 1,0", unit.name),
          "set cbrange [0:*]",
          "set colorbox user origin screen 0.81,0.25 size 0.03,0.62",
          "set lmargin screen 0.21",
          "set rmargin screen 0.77",
          fmt::format("set xtics {}{}", list, characters > kTicCharacters ? " rotate by -40" : ""),
          fmt::format("set ytics {}", list),
          fmt::format("set xrange [-0.5:{}.5]", last),
          fmt::format("set yrange [{}.5:-0.5]", last)};
}

}  // namespace

std::vector<Figure> throughput_figures(const timeline::RunPart& run) {
  std::vector<report::Series> all;
  timeline::with_table(run, "windows", [&](TableReader& table) {
    report::Limits limits;
    limits.hosts = kHosts;
    limits.pairs = 0;
    all = report::read_windows(table, {}, limits).series;
  });
  std::erase_if(all, [](const report::Series& series) { return !is_sane(series); });
  if (all.empty()) return {};
  const Buckets buckets = buckets_for(all);
  std::vector<Figure> figures;
  std::vector<Rates> hosts;
  for (const report::Series& series : all) {
    if (series.group == "total") {
      figures.push_back(total_figure(buckets, rates_in(buckets, series)));
    } else if (series.name.ends_with(" sends") && hosts.size() < kHosts) {
      hosts.push_back(rates_in(buckets, series));
      hosts.back().name.resize(hosts.back().name.size() - std::string_view(" sends").size());
    }
  }
  std::sort(hosts.begin(), hosts.end(),
            [](const Rates& a, const Rates& b) { return NaturalLess()(a.name, b.name); });
  if (!hosts.empty()) figures.push_back(hosts_figure(buckets, hosts));
  return figures;
}

std::optional<Figure> matrix_figure(const timeline::RunPart& run) {
  const Bytes2 pairs = read_pairs(run);
  if (pairs.empty()) return {};
  const std::vector<std::string> hosts = hosts_of(pairs);
  double largest = 0;
  std::string csv = "from_number,to_number,from,to,wire_bytes\n";
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t j = 0; j < hosts.size(); ++j) {
      const auto found = pairs.find({hosts[i], hosts[j]});
      const double bytes = found == pairs.end() ? 0 : found->second;
      largest = std::max(largest, bytes);
      fmt::format_to(std::back_inserter(csv), "{},{},{},{},{:.0f}\n", i, j, csv_text(hosts[i]),
                     csv_text(hosts[j]), bytes);
    }
  }
  const ShownUnit unit = byte_unit(largest);
  Sheet sheet{.name = "traffic_matrix",
              .sentence = "Bytes that each host sent to each other one; white is none.",
              .height_cm = 7};
  sheet.settings = matrix_settings(hosts, unit);
  sheet.settings.push_back(scale_line(unit));
  sheet.plots = {
      "'traffic_matrix.csv' skip 1 using 2:1:($5>0 ? $5*scale : NaN) with image pixels notitle"};
  if (hosts.size() <= 8) {
    sheet.settings.push_back(
        fmt::format("dark = {:.4g}  # text on darker cells is white", 0.55 * largest * unit.scale));
    for (const auto& [test, ink] : {std::pair("<", "#ffffff"), std::pair(">=", "#222222")}) {
      sheet.plots.push_back(
          fmt::format("'traffic_matrix.csv' skip 1 using 2:1:($5>0 && $5*scale{}dark ? "
                      "sprintf('%.3g', $5*scale) : '') with labels textcolor rgb '{}' notitle",
                      test, ink));
    }
  }
  return Figure{.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

}  // namespace tw::figures
