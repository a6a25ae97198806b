// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/bottleneck.h"

#include "trainwire/base/parallel.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tw::diagnose {
namespace {

constexpr double kSlow = 0.6;             ///< of the next slowest
constexpr double kClearer = 0.7;          ///< of the contrast, where both ends of a link are slow
constexpr double kLeastGain = 0.15;       ///< of the exchange: a tree has six stages or so in a row
constexpr double kLeastPeriod = 0.05;     ///< of the step, as for a straggler
constexpr double kManyPackets = 64e3;     ///< bytes: one packet more or less hardly matters
constexpr std::size_t kLongAmount = 3;    ///< as many
constexpr double kNearlySteepest = 0.75;  ///< what trains of packets add to small amounts, at most
constexpr double kFrameHeaders = 66;      ///< Ethernet, IPv4, TCP with timestamps
constexpr std::size_t kOffloadAmount = 2;         ///< 32 KiB
constexpr std::size_t kBucketAmount = 4;          ///< 128 KiB: two of the largest packets,
constexpr std::uint64_t kManyBuckets = 16 << 17;  ///< where so much is sent in a step
constexpr std::uint32_t kMostWindows = 128;
constexpr double kSteady = 0.7;  ///< of its rate, that a slow link keeps up
constexpr double kWhile = 0.25;  ///< of its busy time: collectives of a step may stand apart

/// What sides are measured in.
struct Scene {
  const rhythm::Steps& exchanges;
  std::span<const rhythm::Channel> channels;
  const gather::Captured& traffic;
  double exchange_s;
  std::size_t first_amount;  ///< of the envelopes
};

/// One side of a host.
struct Side {
  int host;
  bool sends;                                  ///< or receives
  double bytes = 0;                            ///< frames of a typical step
  double rate_bps = 0;                         ///< frames, at its fastest
  double long_bps = 0;                         ///< the same for amounts of many packets
  double steady_bps = 0;                       ///< kept up for a while
  std::pair<int, std::uint64_t> partner = {};  ///< with whom it exchanges most, and how much

  double busy_s() const { return bytes * 8 / rate_bps; }
  /// Of its link: small amounts show that it is fast, large ones how fast exactly.
  double exact_bps() const { return long_bps >= kNearlySteepest * rate_bps ? long_bps : rate_bps; }
};

/// Frame bytes for each byte of payload, as if offload had cut what it sends at once.
double frame_factor(const flow::Flow& flow) {
  const std::uint64_t uncounted =
      flow.estimated_wire_packets - std::min(flow.packets, flow.estimated_wire_packets);
  return (static_cast<double>(flow.wire_bytes) + kFrameHeaders * static_cast<double>(uncounted)) /
         static_cast<double>(std::max<std::uint64_t>(1, flow.payload_bytes));
}

/// The steepest of the envelope, in payload: between an amount and twice that.
double steepest_bps(const flow::Envelope& envelope, std::size_t first_amount) {
  const std::vector<double> rates = envelope.rates_bps();
  double steepest = 0;
  for (std::size_t i = first_amount; i + 1 < rates.size(); ++i) {
    if (rates[i] <= 0 || rates[i + 1] <= 0) continue;
    // In units of the smaller amount's bits.
    const double time = 2 / rates[i + 1] - 1 / rates[i];
    if (time > 0) steepest = std::max(steepest, 1 / time);
  }
  return steepest;
}

flow::Series together(std::span<const flow::Series* const> series) {
  std::vector<flow::Window> all;
  for (const flow::Series* one : series) {
    all.insert(all.end(), one->windows().begin(), one->windows().end());
  }
  return flow::Series(std::move(all));
}

/// The same of several flows together, in bytes as they were recorded: between a time and twice that.
double steepest_bps(const flow::Series& together, std::int64_t width_ns) {
  const flow::Series* const joined[] = {&together};
  double steepest = 0;
  double before = 0;
  for (std::uint32_t windows = 1; windows <= kMostWindows; windows *= 2) {
    const double bytes = flow::most_in(joined, windows);
    const double time_s = static_cast<double>(width_ns) * 1e-9 * windows / 2;
    if (before >= kManyPackets) steepest = std::max(steepest, (bytes - before) * 8 / time_s);
    before = bytes;
  }
  return steepest;
}

/// The most that ever passes in that time, a second.
double most_bps(const flow::Series& together, std::int64_t width_ns, double time_s) {
  const flow::Series* const joined[] = {&together};
  const double width_s = static_cast<double>(width_ns) * 1e-9;
  const auto windows = static_cast<std::uint32_t>(std::clamp(time_s / width_s, 1.0, 1e6));
  return flow::most_in(joined, windows) * 8 / (width_s * windows);
}

/// What passes the side, when it leaves, or when it comes, as far as that was captured.
void measure(Side& side, const Scene& scene) {
  std::vector<const flow::Series*> series;
  double wire = 0;
  double frames = 0;
  for (const rhythm::Lane& lane : scene.exchanges.lanes) {
    if ((side.sends ? lane.from : lane.to) != side.host) continue;
    double payload = 0;
    double of_lane = 0;
    for (const std::size_t i : scene.channels[lane.channel].flows) {
      const flow::Flow& flow = scene.traffic.flows[i];
      const bool by_arrival = !side.sends && !flow.arrived.windows().empty();
      const double factor = frame_factor(flow);
      series.push_back(by_arrival ? &flow.arrived : &flow.series);
      const flow::Envelope& envelope = by_arrival ? flow.arrivals : flow.envelope;
      side.rate_bps = std::max(side.rate_bps, factor * steepest_bps(envelope, scene.first_amount));
      side.long_bps =
          std::max(side.long_bps,
                   factor * steepest_bps(envelope, std::max(kLongAmount, scene.first_amount)));
      payload += static_cast<double>(flow.payload_bytes);
      of_lane += factor * static_cast<double>(flow.payload_bytes);
      wire += static_cast<double>(flow.wire_bytes);
    }
    frames += of_lane;
    side.bytes += static_cast<double>(lane.bytes) * of_lane / std::max(1.0, payload);
    if (lane.bytes > side.partner.second) {
      side.partner = {side.sends ? lane.to : lane.from, lane.bytes};
    }
  }
  const std::int64_t width = std::max<std::int64_t>(1, scene.traffic.clock.width_ns);
  const flow::Series all = together(series);
  const double factor = frames / std::max(1.0, wire);
  const double steepest = factor * steepest_bps(all, width);
  side.rate_bps = std::max(side.rate_bps, steepest);
  side.long_bps = std::max(side.long_bps, steepest);
  if (side.rate_bps <= 0) return;  // it is no side: nothing of it was captured
  side.steady_bps = factor * most_bps(all, width, kWhile * side.busy_s());
}

/// Those that send, or receive, slowest first.
std::vector<Side> sides_of(const Scene& scene, bool sends) {
  std::vector<Side> sides;
  for (const int host : rhythm::hosts_of(scene.exchanges)) {
    sides.push_back({.host = host, .sends = sends});
  }
  in_parallel(sides.size(), [&](std::size_t i) { measure(sides[i], scene); });
  std::erase_if(sides, [](const Side& side) { return side.rate_bps <= 0; });
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.rate_bps < b.rate_bps; });
  return sides;
}

/// The slowest of these, if the exchange waits for it: were it as fast as the next, the exchange
/// would be shorter by the rest of its busy time. A slow link has always something to send, so that
/// it keeps its rate up; what hosts that are late hand over at once passes faster than any link.
std::optional<SlowLink> slowest(const Scene& scene, bool sends) {
  const std::vector<Side> sides = sides_of(scene, sends);
  if (sides.size() < 2) return std::nullopt;
  const Side& slow = sides[0];
  const double contrast = slow.rate_bps / sides[1].rate_bps;
  const double busy_s = std::min(slow.busy_s(), scene.exchange_s);
  const double gain_s = busy_s * (1 - contrast);
  if (contrast > kSlow || slow.steady_bps < kSteady * slow.rate_bps ||
      gain_s < kLeastGain * scene.exchange_s ||
      gain_s < kLeastPeriod * 1e-9 * scene.exchanges.tempo.period_ns) {
    return std::nullopt;
  }
  return SlowLink{.from = sends ? slow.host : slow.partner.first,
                  .to = sends ? slow.partner.first : slow.host,
                  .rate_bps = slow.exact_bps(),
                  .confidence = std::clamp(1 - contrast, 0.0, 0.99),
                  .by_arrival = !sends,
                  .evidence = fmt::format(
                      "no more than {} ever pass it, while {} pass any other host at times; at "
                      "that rate it is busy for {:.0f} % of the exchange",
                      readable(BitRate(slow.exact_bps())), readable(BitRate(sides[1].rate_bps)),
                      100 * busy_s / scene.exchange_s)};
}

/// The least amount that is more than passes at once: several packets, or what offload, with the
/// queues and token buckets that are made for it, lets pass.
std::size_t first_amount(const rhythm::Steps& exchanges, std::span<const rhythm::Channel> channels,
                         const gather::Captured& traffic) {
  const bool has_offload = std::ranges::any_of(exchanges.lanes, [&](const rhythm::Lane& lane) {
    return std::ranges::any_of(channels[lane.channel].flows,
                               [&](std::size_t i) { return traffic.flows[i].large_packets > 0; });
  });
  const bool are_large = std::ranges::all_of(
      exchanges.lanes, [](const rhythm::Lane& lane) { return lane.bytes >= kManyBuckets; });
  return !has_offload ? 0 : are_large ? kBucketAmount : kOffloadAmount;
}

}  // namespace

std::optional<SlowLink> find_slow_link(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic) {
  // Behind a slow link exchanges may overlap.
  const double exchange_ns =
      std::min(rhythm::typical_exchange_ns(exchanges), exchanges.tempo.period_ns);
  const Scene scene{exchanges, channels, traffic, exchange_ns * 1e-9,
                    first_amount(exchanges, channels, traffic)};
  const std::optional<SlowLink> out = slowest(scene, true);
  std::optional<SlowLink> in = slowest(scene, false);
  // Of the two views of one link, the sender's counts unless the receiver's is clearer.
  const bool is_clearer = in && (!out || 1 - in->confidence < kClearer * (1 - out->confidence));
  return is_clearer ? in : out;
}

}  // namespace tw::diagnose
