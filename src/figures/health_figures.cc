// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"
#include "trainwire/timeline/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace tw::figures {
namespace {

using result::TableReader;

constexpr std::size_t kMostPairs = 24;
constexpr std::size_t kMostTransfers = 2000;
constexpr std::size_t kMostConnections = 8;
constexpr std::size_t kMostSamples = 4000;

struct Transfer {
  std::int64_t iteration, first_ns, last_ns;
  std::string pair;
};

std::vector<Transfer> read_transfers(const timeline::RunPart& run) {
  std::vector<Transfer> list;
  timeline::with_table(run, "iteration_pairs", [&](TableReader& table) {
    const auto iteration = table.column("iteration"), from = table.column("from");
    const auto to = table.column("to"), first = table.column("first_ns");
    const auto last = table.column("last_ns");
    while (table.next() && list.size() < kMostTransfers) {
      const auto number = table.integer(iteration);
      const auto begin = table.time_ns(first), end = table.time_ns(last);
      if (!number || !begin || !end || *end < *begin) continue;
      list.push_back(
          {*number, *begin, *end, fmt::format("{} > {}", table.text(from), table.text(to))});
    }
  });
  return list;
}

/// What TCP told of one connection.
struct Samples {
  std::vector<std::int64_t> times_ns;
  std::vector<double> rtt_s, window_bytes;
  double sum_window = 0;
};

std::map<std::string, Samples> read_sockets(const timeline::RunPart& run) {
  std::map<std::string, Samples> all;
  timeline::with_table(run, "sockets", [&](TableReader& table) {
    const auto time = table.column("time_ns"), job = table.column("job");
    const auto rank = table.column("rank"), peer = table.column("peer");
    const auto rtt = table.column("rtt_ns"), window = table.column("window_bytes");
    while (table.next()) {
      const auto at = table.time_ns(time);
      const auto trip = table.integer(rtt), bytes = table.integer(window);
      if (!at || !trip || !bytes || *trip < 0 || *bytes < 0) continue;
      Samples& samples =
          all[fmt::format("{} {} > {}", table.text(job), table.text(rank), table.text(peer))];
      samples.times_ns.push_back(*at);
      samples.rtt_s.push_back(1e-9 * static_cast<double>(*trip));
      samples.window_bytes.push_back(static_cast<double>(*bytes));
      samples.sum_window += samples.window_bytes.back();
    }
  });
  return all;
}

using Named = std::pair<std::string, Samples>;

/// Those with the largest windows: they carry the gradients.
std::vector<Named> chosen(std::map<std::string, Samples> all) {
  std::vector<Named> list(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
  std::stable_sort(list.begin(), list.end(), [](const Named& a, const Named& b) {
    return a.second.sum_window > b.second.sum_window;
  });
  list.resize(std::min(list.size(), kMostConnections));
  std::sort(list.begin(), list.end(),
            [](const Named& a, const Named& b) { return a.first < b.first; });
  return list;
}

/// Which of a long series are drawn: of neighbours the largest, so that no peak is lost.
std::vector<std::size_t> kept(const std::vector<double>& values) {
  std::vector<std::size_t> places;
  const std::size_t stride = values.size() / kMostSamples + 1;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(i);
    const auto to =
        values.begin() + static_cast<std::ptrdiff_t>(std::min(i + stride, values.size()));
    places.push_back(static_cast<std::size_t>(std::max_element(from, to) - values.begin()));
  }
  return places;
}

Figure socket_figure(const std::vector<Named>& connections, std::string name, std::string sentence,
                     const std::string& label, std::vector<double> Samples::*values,
                     const ShownUnit& unit, std::int64_t origin_ns) {
  std::string csv = "connection_number,connection,time_s,value\n";
  Sheet sheet{.name = std::move(name), .sentence = std::move(sentence)};
  sheet.settings = {scale_line(unit),
                    "set xlabel 'time (s)'",
                    fmt::format("set ylabel '{} ({})'", label, unit.name),
                    "set yrange [0:*]",
                    "set xrange [0:*]",
                    "set autoscale xfix"};
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const auto& [title, samples] = connections[i];
    for (const std::size_t k : kept(samples.*values)) {
      fmt::format_to(std::back_inserter(csv), "{},{},{:.6f},{:.9g}\n", i, csv_text(title),
                     1e-9 * static_cast<double>(samples.times_ns[k] - origin_ns),
                     (samples.*values)[k]);
    }
    sheet.titles.push_back(title);
    sheet.plots.push_back(fmt::format(
        "'{}.csv' skip 1 using ($1=={} ? $3 : NaN):($4*scale) with lines linewidth 1 linecolor rgb "
        "'{}' title {}",
        sheet.name, i, colour(i), gnuplot_text(title)));
  }
  return {.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

double largest_of(const std::vector<Named>& connections, std::vector<double> Samples::*values) {
  double largest = 0;
  for (const auto& [name, samples] : connections) {
    for (const double value : samples.*values) largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

std::optional<Figure> transfers_figure(const timeline::RunPart& run) {
  const std::vector<Transfer> transfers = read_transfers(run);
  std::map<std::string, std::size_t> rows;
  std::int64_t origin = INT64_MAX;
  for (const Transfer& transfer : transfers) {
    if (rows.size() < kMostPairs) rows.emplace(transfer.pair, 0);
    origin = std::min(origin, transfer.first_ns);
  }
  if (rows.empty()) return {};
  std::vector<std::string> tics;
  for (auto& [pair, row] : rows) {
    row = tics.size();
    tics.push_back(fmt::format("{} {}", gnuplot_tic(pair), row));
  }
  std::string csv = "pair_number,pair,iteration,start_s,end_s\n";
  for (const Transfer& transfer : transfers) {
    const auto row = rows.find(transfer.pair);
    if (row == rows.end()) continue;
    fmt::format_to(std::back_inserter(csv), "{},{},{},{:.6f},{:.6f}\n", row->second,
                   csv_text(transfer.pair), transfer.iteration,
                   1e-9 * static_cast<double>(transfer.first_ns - origin),
                   1e-9 * static_cast<double>(transfer.last_ns - origin));
  }
  Sheet sheet{.name = "transfers",
              .sentence = "When gradients flowed between hosts, a bar for each iteration and pair.",
              .height_cm = std::clamp(2.0 + 0.45 * static_cast<double>(rows.size()), 4.0, 14.0)};
  sheet.settings = {"set xlabel 'time (s)'", fmt::format("set ytics ({})", fmt::join(tics, ", ")),
                    fmt::format("set yrange [{}.6:-0.6]", rows.size() - 1), "set autoscale xfix"};
  const std::vector<std::string> titles{"even iterations", "odd iterations"};
  sheet.titles = titles;
  for (const int odd : {0, 1}) {  // neighbouring iterations may touch
    sheet.plots.push_back(fmt::format(
        "'transfers.csv' skip 1 using (int($3)%2=={} ? $4 : NaN):1:4:5:($1-0.35):($1+0.35) with "
        "boxxyerror fillstyle solid noborder fillcolor rgb '{}' title '{}'",
        odd, colour(odd == 0 ? 0 : 2), titles[static_cast<std::size_t>(odd)]));
  }
  return Figure{.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

std::vector<Figure> socket_figures(const timeline::RunPart& run) {
  const std::vector<Named> connections = chosen(read_sockets(run));
  if (connections.empty()) return {};
  std::int64_t origin = INT64_MAX;
  for (const auto& [name, samples] : connections) {
    origin = std::min(origin, samples.times_ns.front());
  }
  const double longest = largest_of(connections, &Samples::rtt_s);
  const double widest = largest_of(connections, &Samples::window_bytes);
  return {socket_figure(connections, "round_trips",
                        "Smoothed round trips as TCP tells them, by connection.", "round trip",
                        &Samples::rtt_s, time_unit(longest), origin),
          socket_figure(connections, "congestion_windows",
                        "Congestion windows as TCP tells them, by connection.", "congestion window",
                        &Samples::window_bytes, byte_unit(widest), origin)};
}

}  // namespace tw::figures
