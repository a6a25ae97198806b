// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/rate.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

namespace tw::measure {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr double kOverload = 1.2;
constexpr double kIgnored = 0.2;
/// Of line time in one super-frame; the same as the testbed allows other programs.
constexpr Duration kSuperFrame = 125us;
constexpr int kSendsAtOnce = 64;
constexpr std::size_t kLargestSend = 65'000;
/// The kernel's limit, UDP_MAX_SEGMENTS, is 64 in old versions.
constexpr std::size_t kMostSegments = 64;

std::size_t datagrams_per_send(const RateOptions& options, std::size_t payload, std::size_t frame) {
  if (options.sends == Sends::Datagrams) return 1;
  const auto line = static_cast<std::size_t>((options.expected * kSuperFrame).count()) / frame;
  return std::clamp<std::size_t>(line, 1, std::min(kMostSegments, kLargestSend / payload));
}

/// Longest pause of the sender that a queue of usual size bridges.
Duration time_to_run_dry(BitRate rate) { return std::max<Duration>(5ms, 64_KiB / rate); }

/// How often the sender looks at the clock and the receiver empties its socket.
Duration tick(const RateOptions& options, Bytes room) {
  const Duration fill = Bytes(room.count() / 4) / (options.expected * kOverload);
  return std::clamp<Duration>(fill, 200us, 1ms);
}

class Blast {
 public:
  Blast(const PathEnd& from, const PathEnd& to, const RateOptions& options)
      : from_(from), to_(to), options_(options) {
    join(from_, to_);
    wake_path(from_, to_);
    to_.gather_arrivals();
    segment_ = from_.largest_payload();
    frame_ = from_.frame_bytes(segment_);
    header_ = frame_ - segment_;
    per_send_ = datagrams_per_send(options, segment_, frame_);
    payload_.resize(segment_ * per_send_);
    tick_ = tick(options, to_.receive_room());
  }

  MeasuredRate run() {
    send_all(options_.duration.value_or(rate_duration(options_.expected, options_.burst)));
    collect_rest();
    std::erase_if(arrivals_, [this](const auto& arrival) { return arrival.time_ns < from_ns_; });
    std::sort(arrivals_.begin(), arrivals_.end(),
              [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    const ArrivalRate arrived = arrival_rate(arrivals_, options_.burst);
    return {.carried = arrived.rate / (1 - options_.loss),
            .arrived = arrived.rate,
            .sent = sent_,
            .received = received_,
            .overrun = to_.overrun(),
            .window = arrived.window};
  }

 private:
  void send_all(Duration duration) {
    const double per_second = kOverload * options_.expected.bits_per_second() / 8;
    // The first tenth at once: it fills the queue and empties the token bucket.
    const auto first = static_cast<double>(
        std::max(options_.burst, options_.expected * Duration(duration.count() / 10)).count());
    const Duration dry = time_to_run_dry(options_.expected);
    auto start = Clock::now();
    const auto last_start = start + 3 * duration;
    double allowed = first;
    auto last = start;
    for (auto now = start; now - start < duration; now = Clock::now()) {
      allowed =
          std::min(first + per_second * seconds(dry), allowed + per_second * seconds(now - last));
      if (now - last > dry && now < last_start) {
        // We were kept from sending, and the line was idle: all over again.
        start = now;
        allowed = first;
        from_ns_ = os::real_time_ns();
      }
      last = now;
      const bool is_full = !send_some(allowed);
      receive();
      if (is_full) allowed = 0;
      if (allowed <= 0) wait_for({}, is_full ? &from_ : nullptr, tick_);
    }
  }
  /// Sends while something is allowed, but leaves to receive in between; false when the socket has
  /// no room.
  bool send_some(double& allowed) {
    for (int i = 0; i < kSendsAtOnce && allowed > 0; ++i) {
      if (!send_once()) return false;
      sent_ += per_send_;
      allowed -= static_cast<double>(frame_ * per_send_);
    }
    return true;
  }
  bool send_once() {
    return per_send_ == 1 ? from_.send(payload_) : from_.send_segments(payload_, segment_);
  }
  /// Until everything is here, or nothing has come for as long as we are patient.
  void collect_rest() {
    auto end = Clock::now() + options_.patience;
    const std::array<ProbeSocket*, 1> sockets = {&to_};
    while (received_ < sent_ && Clock::now() < end) {
      const std::uint64_t before = received_;
      wait_for(sockets, nullptr, end - Clock::now());
      receive();
      if (received_ > before) end = Clock::now() + options_.patience;
      // The rest of a full queue comes in its own time: no need to wake up for each of it.
      wait_for({}, nullptr, tick_);
    }
  }
  void receive() {
    to_.receive([this](const ProbeArrival& arrival) {
      if (is_wake_up(arrival)) return;
      received_ += arrival.datagrams;
      arrivals_.push_back(
          {.time_ns = arrival.time_ns,
           .frame_bytes = static_cast<std::int64_t>(arrival.bytes + arrival.datagrams * header_)});
    });
  }

  ProbeSocket from_;
  ProbeSocket to_;
  RateOptions options_;
  std::size_t segment_ = 0;   ///< payload of a datagram
  std::size_t frame_ = 0;     ///< its frame
  std::size_t header_ = 0;    ///< what the frame has beside payload
  std::size_t per_send_ = 1;  ///< datagrams
  Duration tick_ = {};
  std::vector<std::byte> payload_;
  std::vector<FrameArrival> arrivals_;
  std::int64_t from_ns_ = 0;  ///< what arrived before does not count
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace

MeasuredRate measure_rate(const PathEnd& from, const PathEnd& to, const RateOptions& options) {
  check(options.expected > BitRate(0), "a line carries something");
  check(options.loss >= 0 && options.loss < 1, "a line loses a share of packets");
  return Blast(from, to, options).run();
}

Duration rate_duration(BitRate expected, Bytes burst) {
  // 15 Mbit are some 1200 frames of Ethernet's usual size.
  const Duration frames = Bytes(15'000'000 / 8) / expected;
  return std::min<Duration>(2s, 300ms + frames) + burst / expected;
}

ArrivalRate arrival_rate(std::span<const FrameArrival> arrivals, Bytes burst) {
  if (arrivals.empty()) return {};
  std::int64_t total = 0;
  for (const FrameArrival& arrival : arrivals) total += arrival.frame_bytes;
  const std::int64_t first_ns = arrivals.front().time_ns;
  const auto ignored_ns =
      static_cast<std::int64_t>(kIgnored * static_cast<double>(arrivals.back().time_ns - first_ns));
  const auto ignored_bytes =
      std::max(burst.count(), static_cast<std::int64_t>(kIgnored * static_cast<double>(total)));
  // The arrival that completes the ignored part opens the window; what follows it counts.
  std::int64_t before = 0;
  for (const FrameArrival& arrival : arrivals) {
    before += arrival.frame_bytes;
    if (before < ignored_bytes || arrival.time_ns - first_ns < ignored_ns) continue;
    const Duration window(arrivals.back().time_ns - arrival.time_ns);
    if (window <= Duration(0)) return {};
    return {.rate = Bytes(total - before) / window, .window = window};
  }
  return {};
}

}  // namespace tw::measure
