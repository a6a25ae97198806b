// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/envelope.h"

#include "trainwire/base/units.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tw::diagnose {
namespace {

constexpr double kShortNs = 4e6;           ///< in which a fast link shows its rate, if it ever does
constexpr double kLongNs = 20e6;           ///< in which a rate is told: several windows of TCP
constexpr double kLowEnvelope = 0.55;      ///< of the next lowest
constexpr double kFilledByEnvelope = 0.6;  ///< of the exchange, at the envelope's rate
constexpr std::size_t kFewestSides = 3;    ///< of two, nobody knows which is the usual one

struct Filled {
  std::uint32_t index;
  std::uint64_t bytes;
};

/// Windows with bytes, rising.
std::vector<Filled> joined(std::span<const flow::Series* const> series) {
  std::vector<Filled> all;
  for (const flow::Series* one : series) {
    for (const flow::Window& window : one->windows()) all.push_back({window.index, window.bytes});
  }
  std::sort(all.begin(), all.end(),
            [](const Filled& a, const Filled& b) { return a.index < b.index; });
  return all;
}

/// What ever passes a side of a host, at most.
struct Peak {
  int host;
  double short_bps = 0;
  double long_bps = 0;
  double frame_bytes = 0;                      ///< of a typical step
  std::pair<int, std::uint64_t> partner = {};  ///< with whom it exchanges most, and how much
};

std::uint32_t windows_in(double time_ns, std::int64_t width_ns) {
  return static_cast<std::uint32_t>(
      std::max(2.0, std::round(time_ns / static_cast<double>(width_ns))));
}

/// Of the hosts that send, or receive; the lowest first.
std::vector<Peak> peaks_of(const rhythm::Steps& exchanges,
                           std::span<const rhythm::Channel> channels,
                           const gather::Captured& traffic, bool sends) {
  const std::int64_t width = std::max<std::int64_t>(1, traffic.clock.width_ns);
  std::vector<Peak> peaks;
  for (const int host : rhythm::hosts_of(exchanges)) {
    Peak peak{.host = host};
    std::vector<const flow::Series*> series;
    for (const rhythm::Lane& lane : exchanges.lanes) {
      if ((sends ? lane.from : lane.to) != host) continue;
      double wire = 0;
      double stream = 1;
      for (const std::size_t i : channels[lane.channel].flows) {
        series.push_back(&traffic.flows[i].series);
        wire += static_cast<double>(traffic.flows[i].wire_bytes);
        stream += static_cast<double>(traffic.flows[i].stream_bytes());
      }
      peak.frame_bytes += static_cast<double>(lane.bytes) * wire / stream;
      if (lane.bytes > peak.partner.second)
        peak.partner = {sends ? lane.to : lane.from, lane.bytes};
    }
    if (series.empty()) continue;
    peak.short_bps = envelope_bps(series, width, windows_in(kShortNs, width));
    peak.long_bps = envelope_bps(series, width, windows_in(kLongNs, width));
    peaks.push_back(peak);
  }
  std::sort(peaks.begin(), peaks.end(),
            [](const Peak& a, const Peak& b) { return a.short_bps < b.short_bps; });
  return peaks;
}

double median_exchange_s(const rhythm::Steps& exchanges) {
  std::vector<double> lengths;
  for (const rhythm::ExchangeStep& step : exchanges.steps) {
    lengths.push_back(static_cast<double>(step.end_ns - step.start_ns) * 1e-9);
  }
  return lengths.empty() ? 0 : stats::median(std::move(lengths));
}

}  // namespace

double envelope_bps(std::span<const flow::Series* const> series, std::int64_t width_ns,
                    std::uint32_t windows) {
  const std::vector<Filled> filled = joined(series);
  std::uint64_t inside = 0;
  std::uint64_t most = 0;
  std::size_t low = 0;
  for (const Filled& window : filled) {
    inside += window.bytes;
    while (std::uint64_t{filled[low].index} + windows <= window.index)
      inside -= filled[low++].bytes;
    most = std::max(most, inside);
  }
  return 8e9 * static_cast<double>(most) /
         (static_cast<double>(width_ns) * static_cast<double>(windows));
}

std::optional<SlowLink> lowest_envelope(const rhythm::Steps& exchanges,
                                        std::span<const rhythm::Channel> channels,
                                        const gather::Captured& traffic) {
  std::optional<SlowLink> best;
  double best_contrast = kLowEnvelope;
  const double exchange_s = median_exchange_s(exchanges);
  for (const bool sends : {true, false}) {
    const std::vector<Peak> peaks = peaks_of(exchanges, channels, traffic, sends);
    if (peaks.size() < kFewestSides || peaks[0].long_bps <= 0 || exchange_s <= 0) continue;
    const Peak& low = peaks[0];
    const double contrast = low.short_bps / peaks[1].short_bps;
    const double busy = low.frame_bytes * 8 / low.long_bps / exchange_s;
    if (contrast > best_contrast || busy < kFilledByEnvelope) continue;
    best_contrast = contrast;
    best = SlowLink{
        .from = sends ? low.host : low.partner.first,
        .to = sends ? low.partner.first : low.host,
        .rate_bps = low.long_bps,
        .confidence = std::clamp(1 - contrast, 0.0, 0.99),
        .evidence = fmt::format("no more than {} ever pass it, while {} pass any other host at "
                                "times; at that rate it is busy for {:.0f} % of the exchange",
                                readable(BitRate(low.long_bps)),
                                readable(BitRate(peaks[1].short_bps)), 100 * std::min(1.0, busy))};
  }
  return best;
}

}  // namespace tw::diagnose
