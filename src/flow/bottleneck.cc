// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/bottleneck.h"

#include "trainwire/base/units.h"
#include "trainwire/flow/wire_packets.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::flow {
namespace {

constexpr double kPauseShare = 0.01;  ///< of the exchange: shorter pauses are part of being busy
constexpr double kLeastDuty = 0.7;
constexpr double kSlowSender = 0.6;    ///< of the next slowest
constexpr double kSlowReceiver = 0.4;  ///< the same: several senders at once slow a receiver anyway
constexpr double kFrameHeaders = 66;   ///< Ethernet, IPv4, TCP with timestamps

/// Frame bytes for each payload byte of the flow.
double frame_factor(const Flow& flow) {
  if (flow.payload_bytes == 0) return 1;
  if (flow.large_packets > 0) {
    const double segment = std::max<double>(536, segment_payload(flow, 0));
    return 1 + kFrameHeaders / segment;
  }
  const auto data_packets = static_cast<double>(flow.packets - flow.acknowledgement_packets);
  return 1 + kFrameHeaders * data_packets / static_cast<double>(flow.payload_bytes);
}

double frame_factor(const Channel& channel, const Traffic& traffic) {
  double payload = 0;
  double frames = 0;
  for (const std::size_t i : channel.flows) {
    const auto bytes = static_cast<double>(traffic.flows[i].payload_bytes);
    payload += bytes;
    frames += bytes * frame_factor(traffic.flows[i]);
  }
  return payload > 0 ? frames / payload : 1;
}

struct Busy {
  double bytes = 0;
  double busy_ns = 0;
  double span_ns = 0;
};

/// Bursts of one step, frames in bytes, joined where the pause is at most `pause_ns`.
Busy busy_time(std::vector<Burst> bursts, std::int64_t pause_ns) {
  Busy result;
  if (bursts.empty()) return result;
  std::sort(bursts.begin(), bursts.end(),
            [](const Burst& a, const Burst& b) { return a.start_ns < b.start_ns; });
  std::int64_t start = bursts.front().start_ns;
  std::int64_t end = start;
  const std::int64_t first = start;
  for (const Burst& burst : bursts) {
    result.bytes += static_cast<double>(burst.bytes);
    if (burst.start_ns - end > pause_ns) {
      result.busy_ns += static_cast<double>(end - start);
      start = burst.start_ns;
    }
    end = std::max(end, burst.end_ns);
  }
  result.busy_ns += static_cast<double>(end - start);
  result.span_ns = static_cast<double>(end - first);
  return result;
}

std::vector<Burst> bursts_in_step(const Exchanges& exchanges, std::span<const Channel> channels,
                                  const std::vector<double>& factors, const Side& side,
                                  std::size_t step) {
  std::vector<Burst> bursts;
  for (std::size_t i = 0; i < exchanges.lanes.size(); ++i) {
    const Lane& lane = exchanges.lanes[i];
    if ((side.sends ? lane.from : lane.to) != side.host || !lane.beats[step]) continue;
    const Beat& beat = *lane.beats[step];
    for (std::size_t b = beat.first_burst; b < beat.end_burst; ++b) {
      Burst burst = channels[lane.channel].bursts[b];
      burst.bytes = static_cast<std::uint64_t>(static_cast<double>(burst.bytes) * factors[i]);
      bursts.push_back(burst);
    }
  }
  return bursts;
}

/// The partner that most of the side's bytes go to or come from.
int partner(const Exchanges& exchanges, const Side& side) {
  int best = side.host;
  double most = 0;
  for (const PairBytes& pair : pair_bytes(exchanges)) {
    if ((side.sends ? pair.from : pair.to) != side.host || pair.bytes <= most) continue;
    most = pair.bytes;
    best = side.sends ? pair.to : pair.from;
  }
  return best;
}

double median_exchange_ns(const Exchanges& exchanges) {
  std::vector<double> lengths;
  for (const ExchangeStep& step : exchanges.steps) {
    lengths.push_back(static_cast<double>(step.end_ns - step.start_ns));
  }
  return lengths.empty() ? 0 : stats::median(std::move(lengths));
}

}  // namespace

std::vector<Side> sides_of(const Exchanges& exchanges, std::span<const Channel> channels,
                           const Traffic& traffic) {
  std::vector<double> factors;
  for (const Lane& lane : exchanges.lanes) {
    factors.push_back(frame_factor(channels[lane.channel], traffic));
  }
  const auto pause =
      std::max(2 * traffic.burst_gap_ns,
               static_cast<std::int64_t>(kPauseShare * median_exchange_ns(exchanges)));
  std::vector<Side> sides;
  for (const int host : hosts_of(exchanges)) {
    for (const bool sends : {true, false}) {
      Side side{.host = host, .sends = sends, .rate_bps = 0, .duty = 0};
      std::vector<double> rates;
      std::vector<double> duties;
      for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
        const Busy busy =
            busy_time(bursts_in_step(exchanges, channels, factors, side, step), pause);
        if (busy.busy_ns <= 0) continue;
        rates.push_back(busy.bytes * 8e9 / busy.busy_ns);
        duties.push_back(busy.busy_ns / busy.span_ns);
      }
      if (rates.empty()) continue;
      side.rate_bps = stats::median(std::move(rates));
      side.duty = stats::median(std::move(duties));
      sides.push_back(side);
    }
  }
  return sides;
}

std::optional<SlowLink> find_slow_link(const Exchanges& exchanges,
                                       std::span<const Channel> channels, const Traffic& traffic) {
  const std::vector<Side> sides = sides_of(exchanges, channels, traffic);
  std::optional<SlowLink> best;
  double best_contrast = 1;
  for (const bool sends : {true, false}) {
    std::vector<Side> alike;
    for (const Side& side : sides) {
      if (side.sends == sends) alike.push_back(side);
    }
    if (alike.size() < 2) continue;
    std::sort(alike.begin(), alike.end(),
              [](const Side& a, const Side& b) { return a.rate_bps < b.rate_bps; });
    const double contrast = alike[0].rate_bps / alike[1].rate_bps;
    if (alike[0].duty < kLeastDuty || contrast > (sends ? kSlowSender : kSlowReceiver)) continue;
    // Of the two views of one link, the sender's wins unless the receiver's is clearer.
    if (best && contrast > 0.7 * best_contrast) continue;
    best_contrast = contrast;
    const int other = partner(exchanges, alike[0]);
    best = SlowLink{
        .from = sends ? alike[0].host : other,
        .to = sends ? other : alike[0].host,
        .rate_bps = alike[0].rate_bps,
        .confidence = std::clamp(1 - contrast, 0.0, 0.99),
        .evidence = fmt::format(
            "it is {} {:.0f} % of its exchange at {}; the next slowest host {} at {} while busy, "
            "{:.0f} % of the time",
            sends ? "sending" : "receiving", 100 * alike[0].duty,
            readable(BitRate(alike[0].rate_bps)), sends ? "sends" : "receives",
            readable(BitRate(alike[1].rate_bps)), 100 * alike[1].duty)};
  }
  return best;
}

}  // namespace tw::flow
