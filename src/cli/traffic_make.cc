// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/traffic_make.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/result/whole_file.h"
#include "trainwire/text/traffic_plot.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tw::cli {
namespace {

using load::Demand;
using load::Load;
using nlohmann::ordered_json;
using spec::TrafficKind;

constexpr std::size_t kColumns = 60;
constexpr std::size_t kPlotHeight = 6;
constexpr std::size_t kFoldedHeight = 4;
constexpr int kPlottedPeriods = 3;
/// More are more than a gigabyte.
constexpr double kMostFlows = 20e6;

bool draws_sizes(const Demand& demand) {
  return demand.kind == TrafficKind::WebSearch || demand.kind == TrafficKind::Burst;
}

void check_length(const Demand& demand) {
  const double bytes = demand.rate.bits_per_second() / 8 * seconds(*demand.duration);
  double flows = bytes / 1e6;
  if (draws_sizes(demand)) flows = bytes / demand.distribution.mean();
  if (demand.kind == TrafficKind::Burst) {
    flows += 10 * seconds(*demand.duration) / seconds(demand.period);
  }
  if (flows <= kMostFlows) return;
  throw SpecError(fmt::format(
      "this load has about {:.1g} flows, more than a file should list: shorten it, or play it "
      "without a file with `trainwire traffic send --kind {}`",
      flows, traffic::name_of(demand.kind)));
}

/// A few periods, or everything.
Duration plotted_span(const Demand& demand) {
  if (demand.kind != TrafficKind::Burst) return *demand.duration;
  return std::min(*demand.duration, kPlottedPeriods * demand.period);
}

struct Sizes {
  double mean = 0;
  double median = 0;
  double largest = 0;
};

Sizes sizes_of(const Load& load) {
  std::vector<std::int64_t> sizes;
  for (const load::Flow& flow : load.flows) sizes.push_back(flow.size.count());
  if (sizes.empty()) return {};
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return {.mean = static_cast<double>(load.total().count()) / static_cast<double>(sizes.size()),
          .median = static_cast<double>(*middle),
          .largest = static_cast<double>(*std::max_element(sizes.begin(), sizes.end()))};
}

std::string size_text(double bytes) { return readable(Bytes(std::llround(bytes))); }

ordered_json document_of(const command::TrafficOptions& options, const Demand& demand,
                         const Load& load) {
  const Sizes sizes = sizes_of(load);
  ordered_json document{
      {"schema", 1},
      {"command", "traffic make"},
      {"kind", traffic::name_of(demand.kind)},
      {"seed", demand.seed},
      {"duration_s", seconds(*demand.duration)},
      {"requested_bps", demand.rate.bits_per_second()},
      {"mean_bps", load.mean_rate().bits_per_second()},
      {"flows", load.flows.size()},
      {"bytes", load.total().count()},
      {"sizes",
       {{"mean_bytes", sizes.mean}, {"p50_bytes", sizes.median}, {"largest_bytes", sizes.largest}}},
      {"file", options.out.empty() ? ordered_json() : ordered_json(options.out)}};
  if (draws_sizes(demand)) {
    document["distribution"] = {{"name", options.distribution},
                                {"mean_bytes", demand.distribution.mean()}};
  }
  if (demand.kind == TrafficKind::Burst) {
    const load::BurstRates rates = load::burst_rates(load, demand.burst_width, demand.period);
    document["burst"] = {{"width_s", seconds(demand.burst_width)},
                         {"height", demand.burst_height},
                         {"period_s", seconds(demand.period)},
                         {"inside_bps", rates.inside.bits_per_second()},
                         {"outside_bps", rates.outside.bits_per_second()}};
  }
  const Duration span = plotted_span(demand);
  document["rates"] = {{"span_s", seconds(span)}, {"bps", text::start_rates(load, span, kColumns)}};
  document["histogram"] = ordered_json::array();
  for (const text::SizeBin& bin : text::size_bins(load)) {
    document["histogram"].push_back(
        {{"from_bytes", bin.from},
         {"to_bytes", bin.to > 0 ? ordered_json(bin.to) : ordered_json()},
         {"flows", bin.flows},
         {"bytes", bin.bytes}});
  }
  return document;
}

void print_lines(const std::vector<std::string>& lines, std::ostream& out) {
  for (const std::string& line : lines) fmt::print(out, "{}\n", line);
}

void print_text(const command::TrafficOptions& options, const Demand& demand, const Load& load,
                std::ostream& out) {
  const Sizes sizes = sizes_of(load);
  fmt::print(out, "{}: asked for {} of payload over {}, seed {}\n", traffic::name_of(demand.kind),
             readable(demand.rate), readable(*demand.duration), demand.seed);
  fmt::print(out, "asks for: mean {}, {} in {} flows\n", readable(load.mean_rate()),
             readable(load.total()), grouped(static_cast<std::int64_t>(load.flows.size())));
  fmt::print(out, "flow sizes: mean {}, median {}, largest {}", size_text(sizes.mean),
             size_text(sizes.median), size_text(sizes.largest));
  if (draws_sizes(demand)) {
    fmt::print(out, "; {} has a mean of {}", printable(options.distribution),
               size_text(demand.distribution.mean()));
  }
  fmt::print(out, "\n");
  if (demand.kind == TrafficKind::Burst) {
    const load::BurstRates rates = load::burst_rates(load, demand.burst_width, demand.period);
    fmt::print(out, "bursts: {} of every {} at {}, {} between them\n", readable(demand.burst_width),
               readable(demand.period), readable(rates.inside), readable(rates.outside));
  }
  const Duration span = plotted_span(demand);
  fmt::print(out, "rate of starts\n");
  print_lines(text::rate_plot(text::start_rates(load, span, kColumns), span, kPlotHeight), out);
  if (demand.kind == TrafficKind::Burst) {
    fmt::print(out, "a period, mean of {}\n", grouped(*demand.duration / demand.period));
    print_lines(text::rate_plot(text::folded_rates(load, demand.period, kColumns), demand.period,
                                kFoldedHeight),
                out);
  }
  print_lines(text::size_plot(text::size_bins(load)), out);
}

void write_file(const std::string& path, const Load& load, command::Streams streams) {
  const std::string text = load::load_text(load);
  if (path == "-") {
    streams.out << text;
    return;
  }
  result::write_whole(path, text);
}

}  // namespace

int make_traffic(const command::TrafficOptions& options, command::Streams streams) {
  if (!options.load.empty()) throw SpecError("traffic make writes a load: name it with -o");
  if (options.json && options.out == "-") {
    throw SpecError("--json and -o - both want standard output; name a file");
  }
  Demand demand = command::demand_option(options, false);
  if (options.to.size() > 1) throw SpecError("--to: a load that is made has one destination");
  if (!options.to.empty()) demand.destination = options.to.front();
  if (demand.destination.find_first_of(",\"\r\n") != std::string::npos) {
    throw SpecError("--to: a destination has no commas, quotes and line ends");
  }
  load::validate(demand);
  check_length(demand);
  const Load load = load::make_load(demand);
  if (!options.out.empty()) write_file(options.out, load, streams);
  if (options.json) {
    fmt::print(streams.out, "{}\n", document_of(options, demand, load).dump(2));
    return 0;
  }
  std::ostream& out = options.out == "-" ? streams.err : streams.out;
  print_text(options, demand, load, out);
  if (options.out.empty()) {
    fmt::print(out, "Nothing was written; -o load.csv does that.\n");
  } else {
    fmt::print(out,
               "Play it: `trainwire traffic sink` there, then `trainwire traffic send {} --to "
               "HOST:PORT`\n",
               printable(options.out == "-" ? "load.csv" : options.out));
  }
  return 0;
}

}  // namespace tw::cli
