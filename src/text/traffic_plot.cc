// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/traffic_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace tw::text {
namespace {

constexpr std::array<std::string_view, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t kBarWidth = 24;

/// The character of a column of `value` (in lines) at a line, counted from below.
std::string_view block(double value, std::size_t line) {
  const double part = std::clamp(value - static_cast<double>(line), 0.0, 1.0);
  return kBlocks[static_cast<std::size_t>(std::lround(8 * part))];
}

std::string bar(double share) {
  std::string text;
  const auto full = static_cast<std::size_t>(std::lround(share * kBarWidth));
  for (std::size_t i = 0; i < kBarWidth; ++i) text += i < full ? "█" : " ";
  return text;
}

}  // namespace

std::vector<double> start_rates(const load::Load& load, Duration span, std::size_t bins) {
  std::vector<double> rates(bins);
  const double width_s = seconds(span) / static_cast<double>(bins);
  for (const load::Flow& flow : load.flows) {
    if (flow.start >= span) break;
    const auto bin = static_cast<std::size_t>(seconds(flow.start) / width_s);
    rates[std::min(bin, bins - 1)] += 8 * static_cast<double>(flow.size.count()) / width_s;
  }
  return rates;
}

std::vector<double> folded_rates(const load::Load& load, Duration period, std::size_t bins) {
  std::vector<double> rates(bins);
  const std::int64_t periods = load.span() / period;
  const double width_s = seconds(period) / static_cast<double>(bins);
  for (const load::Flow& flow : load.flows) {
    if (flow.start >= periods * period) break;
    const auto bin = static_cast<std::size_t>(seconds(flow.start % period) / width_s);
    rates[std::min(bin, bins - 1)] +=
        8 * static_cast<double>(flow.size.count()) / width_s / static_cast<double>(periods);
  }
  return rates;
}

std::vector<std::string> rate_plot(const std::vector<double>& rates_bps, Duration span,
                                   std::size_t height) {
  const double most = rates_bps.empty() ? 0 : *std::max_element(rates_bps.begin(), rates_bps.end());
  std::vector<std::string> lines;
  for (std::size_t line = height; line-- > 0;) {
    std::string label = line + 1 == height ? readable(BitRate(most)) : "";
    if (line == 0) label = "0";
    std::string text = fmt::format("{:>13} │", label);
    for (const double rate : rates_bps) {
      text += block(most > 0 ? rate / most * static_cast<double>(height) : 0, line);
    }
    lines.push_back(std::move(text));
  }
  std::string axis = fmt::format("{:>13} └", "");
  for (std::size_t i = 0; i < rates_bps.size(); ++i) axis += "─";
  lines.push_back(std::move(axis));
  lines.push_back(fmt::format("{:>15}{:<{}}{}", "", "0",
                              rates_bps.size() > 6 ? rates_bps.size() - 6 : 1, readable(span)));
  return lines;
}

std::vector<SizeBin> size_bins(const load::Load& load) {
  std::vector<SizeBin> bins;
  std::int64_t from = 0;
  for (std::int64_t to = 1000; to <= 10'000'000; to *= 10) {
    bins.push_back({.from = from, .to = to});
    from = to;
  }
  bins.push_back({.from = from});
  for (const load::Flow& flow : load.flows) {
    const auto bin = std::find_if(bins.begin(), bins.end(), [&](const SizeBin& b) {
      return b.to == 0 || flow.size.count() <= b.to;
    });
    ++bin->flows;
    bin->bytes += flow.size.count();
  }
  return bins;
}

std::vector<std::string> size_plot(const std::vector<SizeBin>& bins) {
  double flows = 0;
  double bytes = 0;
  for (const SizeBin& bin : bins) {
    flows += static_cast<double>(bin.flows);
    bytes += static_cast<double>(bin.bytes);
  }
  std::vector<std::string> lines{fmt::format("{:>13}  {:<34}{}", "flow size", "flows", "bytes")};
  for (const SizeBin& bin : bins) {
    if (bin.flows == 0) continue;
    const double share = static_cast<double>(bin.flows) / flows;
    const double volume = bytes > 0 ? static_cast<double>(bin.bytes) / bytes : 0;
    const std::string label =
        bin.to > 0 ? "to " + readable(Bytes(bin.to)) : "over " + readable(Bytes(bin.from));
    lines.push_back(fmt::format("{:>13} {:>5.1f} % {} {:>5.1f} % {}", label, 100 * share,
                                bar(share), 100 * volume, bar(volume)));
  }
  return lines;
}

}  // namespace tw::text
