// SPDX-License-Identifier: Apache-2.0
#include "trainwire/figures/figures.h"
#include "trainwire/report/throughput.h"
#include "trainwire/stats/ecdf.h"
#include "trainwire/stats/quantile.h"
#include "trainwire/timeline/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace tw::figures {
namespace {

using result::TableReader;

/// A sample of numbers with a name, one curve of a figure.
struct Sample {
  std::string name;
  std::vector<double> values;
};

std::vector<double> finite(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

/// Of every job that logged its steps, or else the iterations that the capture shows.
std::vector<Sample> step_times(const timeline::RunPart& run) {
  std::vector<Sample> samples;
  const record::Run& found = run.file.summary;
  for (const record::Job& job : found.jobs) {
    std::vector<double> times = job.step ? finite(job.step->times_s) : std::vector<double>();
    if (times.empty()) continue;
    samples.push_back({job.name.empty() ? "job" : job.name, std::move(times)});
  }
  if (!samples.empty() || !found.iterations) return samples;
  std::vector<double> times = finite(found.iterations->times_s);
  if (!times.empty()) samples.push_back({"iterations", std::move(times)});
  return samples;
}

double largest_of(const std::vector<Sample>& samples) {
  double largest = 0;
  for (const Sample& sample : samples) {
    largest = std::max(largest, *std::max_element(sample.values.begin(), sample.values.end()));
  }
  return largest;
}

std::vector<std::string> names_of(const std::vector<Sample>& samples) {
  std::vector<std::string> names;
  for (const Sample& sample : samples) names.push_back(sample.name);
  return names;
}

/// No key for one curve: the axes say it all.
std::vector<std::string> key_for(std::vector<std::string> names) {
  return names.size() < 2 ? std::vector<std::string>() : std::move(names);
}

Figure step_times_figure(const std::vector<Sample>& samples) {
  const ShownUnit unit = time_unit(largest_of(samples));
  Sheet sheet{.name = "step_times",
              .sentence = "Time of each training step.",
              .titles = key_for(names_of(samples))};
  sheet.settings = {scale_line(unit), "set xlabel 'step'",
                    fmt::format("set ylabel 'step time ({})'", unit.name), "set yrange [0:*]",
                    "set xrange [-0.5:*]"};
  std::string csv = "series,name,step,time_s\n";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t step = 0; step < samples[i].values.size(); ++step) {
      fmt::format_to(std::back_inserter(csv), "{},{},{},{}\n", i, csv_text(samples[i].name), step,
                     samples[i].values[step]);
    }
    sheet.plots.push_back(
        fmt::format("'step_times.csv' skip 1 using ($1=={} ? $3 : NaN):($4*scale) with linespoints "
                    "linewidth 0.8 "
                    "pointtype 7 pointsize 0.25 linecolor rgb '{}' title {}",
                    i, colour(i), gnuplot_text(samples[i].name)));
  }
  return {.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

Figure step_cdf_figure(const std::vector<Sample>& samples) {
  const ShownUnit unit = time_unit(largest_of(samples));
  Sheet sheet{.name = "step_time_cdf",
              .sentence = "Distribution of the step time, with a 95 % band of the whole curve.",
              .titles = key_for(names_of(samples))};
  sheet.settings = {scale_line(unit), fmt::format("set xlabel 'step time ({})'", unit.name),
                    "set ylabel 'share of steps'", "set yrange [0:1]", "set ytics 0.25"};
  std::string csv = "series,name,time_s,share,share_low,share_high\n";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::vector<stats::EcdfPoint> points = stats::ecdf(samples[i].values).points;
    points.insert(points.begin(), points.front());
    points.front().share = 0;  // where the curve leaves the axis
    for (const stats::EcdfPoint& point : points) {
      fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{}\n", i, csv_text(samples[i].name),
                     point.value, point.share, point.low, point.high);
    }
    const std::string x = fmt::format("($1=={} ? $3*scale : NaN)", i);
    sheet.plots.push_back(
        fmt::format("'step_time_cdf.csv' skip 1 using {}:5:6 with filledcurves fillstyle "
                    "transparent solid 0.2 fillcolor rgb '{}' "
                    "notitle",
                    x, colour(i)));
    sheet.plots.push_back(
        fmt::format("'step_time_cdf.csv' skip 1 using {}:4 with steps linewidth 1.2 linecolor rgb "
                    "'{}' title {}",
                    x, colour(i), gnuplot_text(samples[i].name)));
  }
  return {.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

/// Curves of distribution functions over a logarithmic axis.
struct CdfSheet {
  Sheet sheet;
  std::string column;  ///< of the CSV
  std::vector<Sample> samples;
  std::vector<std::size_t> unfinished;  ///< for each sample: values that never came to be
};

Figure cdf_figure(CdfSheet wanted) {
  Sheet& sheet = wanted.sheet;
  sheet.titles = key_for(names_of(wanted.samples));
  for (const char* line :
       {"set logscale x", "set ylabel 'share of flows'", "set yrange [0:1]", "set ytics 0.25"}) {
    sheet.settings.emplace_back(line);
  }
  std::string csv = fmt::format("series,name,{},share\n", wanted.column);
  for (std::size_t i = 0; i < wanted.samples.size(); ++i) {
    const Sample& sample = wanted.samples[i];
    for (const CdfPoint& point : cdf(sample.values, wanted.unfinished[i])) {
      fmt::format_to(std::back_inserter(csv), "{},{},{},{}\n", i, csv_text(sample.name),
                     point.value, point.share);
    }
    sheet.plots.push_back(
        fmt::format("'{}.csv' skip 1 using ($1=={} ? $3 : NaN):4 with steps linewidth 1.2 "
                    "linecolor rgb '{}' title {}",
                    sheet.name, i, colour(i), gnuplot_text(sample.name)));
  }
  return {.name = sheet.name, .csv = std::move(csv), .script = script_of(sheet)};
}

constexpr std::array<double, 4> kSizes{0, 1e5, 1e7, INFINITY};
constexpr std::array kSizeNames{"below 100 kB", "100 kB to 10 MB", "10 MB and more"};

}  // namespace

std::vector<Figure> step_figures(const timeline::RunPart& run) {
  const std::vector<Sample> samples = step_times(run);
  if (samples.empty()) return {};
  return {step_times_figure(samples), step_cdf_figure(samples)};
}

std::optional<Figure> flow_sizes_figure(const timeline::RunPart& run) {
  std::map<std::string, std::vector<double>> classes;
  timeline::with_table(run, "flows", [&](TableReader& table) {
    const auto name = table.column("class"), size = table.column("wire_bytes");
    while (table.next()) {
      const auto bytes = table.number(size);
      if (bytes && *bytes > 0) classes[std::string(table.text(name))].push_back(*bytes);
    }
  });
  if (classes.empty()) return {};
  CdfSheet wanted{.sheet = {.name = "flow_sizes", .sentence = "Sizes of flows by class."},
                  .column = "wire_bytes",
                  .samples = {},
                  .unfinished = {}};
  wanted.sheet.settings = {"set xlabel 'flow size on the wire'", "set format x '%.0s %cB'"};
  for (auto& [name, sizes] : classes) {
    wanted.samples.push_back({fmt::format("{} ({})", name, sizes.size()), std::move(sizes)});
    wanted.unfinished.push_back(0);
  }
  return cdf_figure(std::move(wanted));
}

std::optional<Figure> completion_figure(const timeline::RunPart& run) {
  std::array<std::vector<double>, 3> times;
  std::array<std::size_t, 3> unfinished{};
  timeline::with_table(run, "cross_flows", [&](TableReader& table) {
    const auto size = table.column("bytes");
    const auto start = table.column("start_ns"), end = table.column("end_ns");
    while (table.next()) {
      const auto bytes = table.number(size);
      const auto from = timeline::time_in(table, start), to = timeline::time_in(table, end);
      if (!bytes || !from) continue;
      const std::size_t i = *bytes < kSizes[1] ? 0 : *bytes < kSizes[2] ? 1 : 2;
      if (to && *to > *from) {
        times[i].push_back(static_cast<double>(*to - *from) * 1e-9);
      } else {
        ++unfinished[i];
      }
    }
  });
  CdfSheet wanted{
      .sheet = {.name = "cross_completion",
                .sentence = "Completion times of cross traffic by size; a curve that stays below 1 "
                            "has flows that never ended."},
      .column = "completion_s",
      .samples = {},
      .unfinished = {}};
  wanted.sheet.settings = {"set xlabel 'completion time'", "set format x '%.0s %cs'"};
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].empty()) continue;
    wanted.samples.push_back({kSizeNames[i], std::move(times[i])});
    wanted.unfinished.push_back(unfinished[i]);
  }
  if (wanted.samples.empty()) return {};
  return cdf_figure(std::move(wanted));
}

}  // namespace tw::figures
