// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/bottleneck.h"

#include "trainwire/base/parallel.h"
#include "trainwire/base/units.h"
#include "trainwire/diagnose/envelope.h"
#include "trainwire/diagnose/paced_rate.h"
#include "trainwire/flow/bursts.h"
#include "trainwire/flow/wire_packets.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::diagnose {
namespace {

constexpr double kPauseShare = 0.01;   ///< of the exchange: shorter pauses are part of being busy
constexpr double kLeastGain = 0.15;    ///< of the exchange: a tree has six stages or so in a row
constexpr double kLeastPeriod = 0.05;  ///< of the step, as for a straggler
constexpr double kLeastDutyOfServer = 0.5;   ///< workers come one by one where one of them is late
constexpr double kSustainedNs = 20e6;        ///< shortest span of a sustained rate, and
constexpr double kSustainedBytes = 256'000;  ///< what such a span holds: several windows of TCP
constexpr std::size_t kFewestSpans = 20;
constexpr double kLoadedBest = 0.9;    ///< quantile over such spans
constexpr double kSlowSender = 0.6;    ///< of the next slowest
constexpr double kSlowReceiver = 0.4;  ///< the same: several senders at once slow a receiver anyway
constexpr double kSameLoad = 0.05;     ///< how far the bytes of two ways may differ
constexpr double kFrameHeaders = 66;   ///< Ethernet, IPv4, TCP with timestamps

/// Frame bytes for each payload byte of the flow.
double frame_factor(const flow::Flow& flow) {
  if (flow.payload_bytes == 0) return 1;
  if (flow.large_packets > 0) {
    const double segment = std::max<double>(536, flow::segment_payload(flow, 0));
    return 1 + kFrameHeaders / segment;
  }
  const auto data_packets = static_cast<double>(flow.packets - flow.acknowledgement_packets);
  return 1 + kFrameHeaders * data_packets / static_cast<double>(flow.payload_bytes);
}

double frame_factor(const rhythm::Channel& channel, const gather::Captured& traffic) {
  double payload = 0;
  double frames = 0;
  for (const std::size_t i : channel.flows) {
    const auto bytes = static_cast<double>(traffic.flows[i].payload_bytes);
    payload += bytes;
    frames += bytes * frame_factor(traffic.flows[i]);
  }
  return payload > 0 ? frames / payload : 1;
}

/// One side of a host in a typical step.
struct Side {
  int host;
  bool sends;       ///< or receives
  double rate_bps;  ///< frames, mean while busy
  double duty;      ///< busy part of the exchange
};

struct Busy {
  double bytes = 0;
  double busy_ns = 0;
  std::vector<rhythm::Interval> runs = {};  ///< without a pause
};

/// Bursts of one step, frames in bytes, joined where the pause is at most `pause_ns`.
Busy busy_time(std::vector<flow::Burst> bursts, std::int64_t pause_ns) {
  Busy result;
  flow::sort_by_start(bursts);
  for (const flow::Burst& burst : bursts) {
    result.bytes += static_cast<double>(burst.bytes);
    if (result.runs.empty() || burst.start_ns - result.runs.back().end_ns > pause_ns) {
      result.runs.push_back({burst.start_ns, burst.end_ns});
    }
    result.runs.back().end_ns = std::max(result.runs.back().end_ns, burst.end_ns);
  }
  for (const rhythm::Interval& run : result.runs) {
    result.busy_ns += static_cast<double>(run.end_ns - run.start_ns);
  }
  return result;
}

/// Adds the bytes of a burst to the windows that it lies in, as if it were sent evenly.
void spread(const flow::Burst& burst, std::int64_t begin, std::int64_t width,
            std::vector<double>& windows) {
  const auto length = static_cast<double>(std::max<std::int64_t>(1, burst.end_ns - burst.start_ns));
  const auto count = static_cast<std::int64_t>(windows.size());
  const std::int64_t end = std::max(burst.end_ns, burst.start_ns + 1);
  for (std::int64_t i = (burst.start_ns - begin) / width; i < count; ++i) {
    const std::int64_t low = std::max(burst.start_ns, begin + i * width);
    const std::int64_t high = std::min(end, begin + (i + 1) * width);
    if (high <= low) return;
    windows[static_cast<std::size_t>(i)] +=
        static_cast<double>(burst.bytes) * static_cast<double>(high - low) / length;
  }
}

/// Appends the rates over all whole spans of a width inside the runs. `bursts` by start.
void append_rates(std::vector<double>& rates, const Busy& busy,
                  const std::vector<flow::Burst>& bursts) {
  const double filled_ns = kSustainedBytes * busy.busy_ns / busy.bytes;
  const auto width = static_cast<std::int64_t>(std::max(kSustainedNs, filled_ns));
  for (const rhythm::Interval& run : busy.runs) {
    const auto count = static_cast<std::size_t>((run.end_ns - run.start_ns) / width);
    std::vector<double> windows(count, 0);
    auto burst = std::lower_bound(
        bursts.begin(), bursts.end(), run.start_ns,
        [](const flow::Burst& one, std::int64_t time) { return one.start_ns < time; });
    for (; burst != bursts.end() && burst->start_ns < run.end_ns; ++burst) {
      spread(*burst, run.start_ns, width, windows);
    }
    for (const double bytes : windows) {
      rates.push_back(bytes * 8e9 / static_cast<double>(width));
    }
  }
}

/// Which bursts a side is measured by: those of the flows, where nothing is joined, or as the
/// channels have them.
enum class Pieces { Single, Joined };

/// What sides are measured in.
struct Scene {
  const rhythm::Steps& exchanges;
  std::span<const rhythm::Channel> channels;
  const gather::Captured& traffic;
  Pieces pieces;
  std::int64_t pause_ns;  ///< the longest that is part of being busy
};

flow::Burst in_frames(flow::Burst burst, double factor) {
  burst.bytes = static_cast<std::uint64_t>(static_cast<double>(burst.bytes) * factor);
  return burst;
}

/// The part of a burst that lies in a time, as if it were sent evenly: behind a slow link that never
/// pauses, one burst may last for many steps.
flow::Burst part_in(flow::Burst burst, const rhythm::Interval& time) {
  const std::int64_t start = std::max(burst.start_ns, time.start_ns);
  const std::int64_t end = std::min(burst.end_ns, time.end_ns);
  if (burst.end_ns <= burst.start_ns || end - start >= burst.end_ns - burst.start_ns) return burst;
  const double part = static_cast<double>(std::max<std::int64_t>(0, end - start)) /
                      static_cast<double>(burst.end_ns - burst.start_ns);
  burst.bytes = static_cast<std::uint64_t>(static_cast<double>(burst.bytes) * part);
  burst.start_ns = start;
  burst.end_ns = std::max(start, end);
  return burst;
}

/// `bursts` in time order, none before the end of the one before.
void append_parts(std::vector<flow::Burst>& result, std::span<const flow::Burst> bursts,
                  const rhythm::Interval& time, double factor) {
  auto burst = std::lower_bound(
      bursts.begin(), bursts.end(), time.start_ns,
      [](const flow::Burst& one, std::int64_t start) { return one.end_ns < start; });
  for (; burst != bursts.end() && burst->start_ns <= time.end_ns; ++burst) {
    result.push_back(in_frames(part_in(*burst, time), factor));
  }
}

/// A lane of a side, with its channel's frame bytes for each payload byte.
struct SideLane {
  const rhythm::Lane* lane;
  const rhythm::Channel* channel;
  double frame_factor;
};

std::vector<SideLane> lanes_of(const Side& side, const Scene& scene) {
  std::vector<SideLane> lanes;
  for (const rhythm::Lane& lane : scene.exchanges.lanes) {
    if ((side.sends ? lane.from : lane.to) != side.host) continue;
    const rhythm::Channel& channel = scene.channels[lane.channel];
    lanes.push_back({&lane, &channel, frame_factor(channel, scene.traffic)});
  }
  return lanes;
}

/// What a side sends or receives in one step, frames in bytes.
std::vector<flow::Burst> bursts_in_step(std::span<const SideLane> lanes,
                                        const gather::Captured& traffic, std::size_t step,
                                        Pieces pieces) {
  std::vector<flow::Burst> result;
  for (const auto& [lane, channel, factor] : lanes) {
    if (!lane->beats[step]) continue;
    const rhythm::Beat& beat = *lane->beats[step];
    const rhythm::Interval time{beat.start_ns, beat.end_ns};
    if (pieces == Pieces::Joined) {
      append_parts(
          result,
          std::span(channel->bursts).subspan(beat.first_burst, beat.end_burst - beat.first_burst),
          time, factor);
      continue;
    }
    for (const std::size_t flow : channel->flows) {
      append_parts(result, traffic.flows[flow].bursts, time, factor);
    }
  }
  flow::sort_by_start(result);
  return result;
}

double length_ns(const rhythm::ExchangeStep& step) {
  return static_cast<double>(step.end_ns - step.start_ns);
}

/// Leaves a side that moves nothing as it is.
void measure(Side& side, const Scene& scene) {
  const std::vector<SideLane> lanes = lanes_of(side, scene);
  std::vector<double> rates;
  std::vector<double> duties;
  for (std::size_t step = 0; step < scene.exchanges.steps.size(); ++step) {
    const Busy busy =
        busy_time(bursts_in_step(lanes, scene.traffic, step, scene.pieces), scene.pause_ns);
    if (busy.busy_ns <= 0 || busy.bytes <= 0) continue;
    rates.push_back(busy.bytes * 8e9 / busy.busy_ns);
    duties.push_back(busy.busy_ns / std::max(busy.busy_ns, length_ns(scene.exchanges.steps[step])));
  }
  if (rates.empty()) return;
  side.rate_bps = stats::median(std::move(rates));
  side.duty = stats::median(std::move(duties));
}

/// The rate of the link that a side is slowed by: that at which it spaces what passes it, or what
/// it sustains; the mean when no step is long enough to tell.
double link_rate_bps(const Side& side, const Scene& scene) {
  const std::vector<SideLane> lanes = lanes_of(side, scene);
  std::vector<double> sustained;
  std::vector<flow::Burst> passed;
  for (std::size_t step = 0; step < scene.exchanges.steps.size(); ++step) {
    const std::vector<flow::Burst> single =
        bursts_in_step(lanes, scene.traffic, step, Pieces::Single);
    const Busy busy = busy_time(scene.pieces == Pieces::Single
                                    ? single
                                    : bursts_in_step(lanes, scene.traffic, step, Pieces::Joined),
                                scene.pause_ns);
    if (busy.busy_ns <= 0 || busy.bytes <= 0) continue;
    append_rates(sustained, busy, single);
    passed.insert(passed.end(), single.begin(), single.end());
  }
  flow::sort_by_start(passed);
  if (const auto paced = paced_rate_bps(passed)) return *paced;
  return sustained.size() < kFewestSpans ? side.rate_bps
                                         : stats::quantile(std::move(sustained), kLoadedBest);
}

/// The partner that most of the side's bytes go to or come from.
int partner(const rhythm::Steps& exchanges, const Side& side) {
  int best = side.host;
  double most = 0;
  for (const rhythm::PairBytes& pair : rhythm::pair_bytes(exchanges)) {
    if ((side.sends ? pair.from : pair.to) != side.host || pair.bytes <= most) continue;
    most = pair.bytes;
    best = side.sends ? pair.to : pair.from;
  }
  return best;
}

double median_exchange_ns(const rhythm::Steps& exchanges) {
  std::vector<double> lengths;
  for (const rhythm::ExchangeStep& step : exchanges.steps) {
    lengths.push_back(length_ns(step));
  }
  return lengths.empty() ? 0 : stats::median(std::move(lengths));
}

/// Whether a side that is slower than the next slowest, by `contrast`, is what the exchange waits
/// for. Were it as fast as that, the exchange would be shorter by the rest of its busy time.
bool is_waited_for(const rhythm::Steps& exchanges, const Side& slowest, double contrast) {
  const double gain = slowest.duty * (1 - contrast);
  return gain >= kLeastGain &&
         gain * median_exchange_ns(exchanges) >= kLeastPeriod * exchanges.tempo.period_ns;
}

SlowLink slow_link(const Scene& scene, const Side& slow, double contrast,
                   const std::string& others) {
  const int other = partner(scene.exchanges, slow);
  return {.from = slow.sends ? slow.host : other,
          .to = slow.sends ? other : slow.host,
          .rate_bps = link_rate_bps(slow, scene),
          .confidence = std::clamp(1 - contrast, 0.0, 0.99),
          .evidence = fmt::format("it is {} {:.0f} % of the exchange, at {} on average; {}",
                                  slow.sends ? "sending" : "receiving", 100 * slow.duty,
                                  readable(BitRate(slow.rate_bps)), others)};
}

/// Bytes of a typical step and the number of partners.
std::pair<double, int> load(const rhythm::Steps& exchanges, const Side& side) {
  std::pair<double, int> result{0, 0};
  for (const rhythm::PairBytes& pair : rhythm::pair_bytes(exchanges)) {
    if ((side.sends ? pair.from : pair.to) != side.host) continue;
    result.first += pair.bytes;
    ++result.second;
  }
  return result;
}

/// Whether both ways move the same bytes with as many partners, two or more.
bool is_same_load(const rhythm::Steps& exchanges, const Side& one, const Side& other) {
  const auto [bytes, partners] = load(exchanges, one);
  const auto [other_bytes, other_partners] = load(exchanges, other);
  return partners >= 2 && partners == other_partners && bytes >= kSustainedBytes &&
         std::abs(bytes - other_bytes) <= kSameLoad * bytes;
}

/// Who exchanges with many is compared with himself: the same bytes with the same partners take him
/// much longer one way than the other. Of several the one with the largest difference: who only
/// receives from a slow sender among others is slowed less than that sender.
std::optional<SlowLink> slow_way_of_a_server(const Scene& scene, std::span<const Side> sides) {
  std::optional<SlowLink> best;
  double best_contrast = kSlowReceiver;
  for (const Side& slow : sides) {
    for (const Side& fast : sides) {
      const double contrast = slow.rate_bps / fast.rate_bps;
      if (slow.host != fast.host || slow.sends == fast.sends) continue;
      if (contrast > best_contrast || slow.duty < kLeastDutyOfServer) continue;
      if (!is_same_load(scene.exchanges, slow, fast)) continue;
      best_contrast = contrast;
      best = slow_link(
          scene, slow, contrast,
          fmt::format("the other way it moves the same at {}", readable(BitRate(fast.rate_bps))));
    }
  }
  return best;
}

std::vector<Side> sides_of(const Scene& scene) {
  std::vector<Side> sides;
  for (const int host : rhythm::hosts_of(scene.exchanges)) {
    for (const bool sends : {true, false}) {
      sides.push_back({.host = host, .sends = sends, .rate_bps = 0, .duty = 0});
    }
  }
  in_parallel(sides.size(), [&](std::size_t i) { measure(sides[i], scene); });
  std::erase_if(sides, [](const Side& side) { return side.rate_bps <= 0; });
  return sides;
}

/// The side that is slower than all others of its kind.
std::optional<SlowLink> slowest_side(const Scene& scene, std::span<const Side> sides) {
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
    if (contrast > (sends ? kSlowSender : kSlowReceiver)) continue;
    if (!is_waited_for(scene.exchanges, alike[0], contrast)) continue;
    // Of the two views of one link, the sender's wins unless the receiver's is clearer.
    if (best && contrast > 0.7 * best_contrast) continue;
    best_contrast = contrast;
    best = slow_link(scene, alike[0], contrast,
                     fmt::format("the next slowest host {} at {} while busy, {:.0f} % of the time",
                                 sends ? "sends" : "receives", readable(BitRate(alike[1].rate_bps)),
                                 100 * alike[1].duty));
  }
  return best;
}

}  // namespace

std::optional<SlowLink> find_slow_link(const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels,
                                       const gather::Captured& traffic) {
  Scene scene{exchanges, channels, traffic, Pieces::Single,
              std::max(2 * traffic.burst_gap_ns,
                       static_cast<std::int64_t>(kPauseShare * median_exchange_ns(exchanges)))};
  // Who forwards what a slow link brings, message by message, looks spaced by that link where
  // messages are small, so its bursts are taken apart first. Where a slow link's own trains are
  // that far apart they have to be joined.
  if (const auto slow = slowest_side(scene, sides_of(scene))) return slow;
  scene.pieces = Pieces::Joined;
  const std::vector<Side> joined = sides_of(scene);
  if (const auto slow = slowest_side(scene, joined)) return slow;
  if (const auto slow = slow_way_of_a_server(scene, joined)) return slow;
  return lowest_envelope(exchanges, channels, traffic);
}

}  // namespace tw::diagnose
