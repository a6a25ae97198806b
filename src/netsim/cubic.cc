// SPDX-License-Identifier: Apache-2.0
// CUBIC as Linux has it (RFC 9438): the window follows C (t - K)^3 from the last loss, never slower
// than Reno would, and slow start ends by HyStart when acknowledgements come in a long row or late
// (Ha & Rhee 2011, 10.1016/j.comnet.2011.01.014).
#include "trainwire/netsim/congestion.h"

#include <algorithm>
#include <cmath>

namespace tw::netsim {
namespace {

constexpr double kBeta = 717.0 / 1024;
constexpr double kC = 0.4;
constexpr Time kPatience = 1000 * kMillisecond / 32;
/// Segments a round trip by which a Reno grows that shrinks by beta and has the same share.
constexpr double kRenoGrowth = 3 * (1 - kBeta) / (1 + kBeta);

/// Ends slow start before it overruns the path: once, until all is begun anew after a time-out.
class HyStart {
 public:
  /// Whether slow start is to end.
  bool finds(const AckNews& news, const Window& window, Time least) {
    if (has_found_) return false;
    has_found_ = looks(news, window, least);
    return has_found_;
  }
  void begin_anew() { *this = {}; }
  void restart() { round_end_ = -1; }

 private:
  bool looks(const AckNews& news, const Window& window, Time least) {
    if (news.first_unacknowledged > round_end_) begin_round(news);
    if (window.segments < kFewest) return false;
    if (news.now - last_ack_ <= kRow) {
      last_ack_ = news.now;
      // Half a round trip, and half of what trains of segments may be late by.
      const Time late = std::min(kMillisecond, time_of_seconds(kTrains / news.pace));
      if (news.now - round_begin_ > (least + late) / 2) return true;
    }
    if (samples_ < kSamples) {
      least_now_ = std::min(least_now_, news.rtt);
      ++samples_;
      return false;
    }
    return least_now_ > least + std::clamp(least / 8, kLeastDelay, kMostDelay);
  }

  static constexpr int kFewest = 16;
  static constexpr int kSamples = 8;
  static constexpr double kTrains = 4 * 65536 / 1448.0;  ///< segments
  static constexpr Time kRow = 2 * kMillisecond;
  static constexpr Time kLeastDelay = 4 * kMillisecond;
  static constexpr Time kMostDelay = 16 * kMillisecond;

  void begin_round(const AckNews& news) {
    round_begin_ = last_ack_ = news.now;
    round_end_ = news.next;
    least_now_ = kNever;
    samples_ = 0;
  }

  bool has_found_ = false;
  Time round_begin_ = 0;
  Time last_ack_ = 0;
  std::int64_t round_end_ = -1;
  Time least_now_ = kNever;
  int samples_ = 0;
};

class Cubic : public Congestion {
 public:
  int threshold(const Window& window, Cause) override {
    epoch_ = -1;
    const auto segments = static_cast<double>(window.segments);
    // Fast convergence: who lost below its last maximum leaves room for others.
    most_ =
        window.segments < most_ ? static_cast<int>(segments * (1 + kBeta) / 2) : window.segments;
    return std::max(static_cast<int>(segments * kBeta), 2);
  }

  void grow(const AckNews& news, Window& window) override {
    if (news.rtt >= 0) least_ = std::min(least_, news.rtt);
    if (window.is_slow_start() && news.rtt >= 0 && hystart_.finds(news, window, least_)) {
      window.threshold = window.segments;
    }
    if (!news.window_limited) return;
    int acknowledged = news.delivered;
    if (window.is_slow_start()) acknowledged = slow_start(window, acknowledged);
    if (acknowledged == 0) return;
    find_growth(news.now, window, acknowledged);
    additive_increase(window, per_, acknowledged);
  }

  void timed_out(Window&) override {
    most_ = origin_ = 0;
    epoch_ = -1;
    found_for_ = 0;
    least_ = kNever;
    hystart_.begin_anew();
  }

  void resumed(Time pause) override {
    // Time in which nothing was sent does not count as growth.
    if (epoch_ >= 0) epoch_ += pause;
    hystart_.restart();
  }

 private:
  void begin_epoch(Time now, const Window& window, int acknowledged) {
    epoch_ = now;
    acknowledged_ = acknowledged;
    reno_ = window.segments;
    origin_ = std::max(most_, window.segments);
    rise_ = std::cbrt((origin_ - window.segments) / kC);
  }

  /// How many acknowledged segments make the window one larger. Linux looks anew when the window has
  /// changed or after a while, and at the curve no more than once a tick: after a loss, where the
  /// curve begins flat, nothing grows for that while; Reno's growth neither, it is made up for at
  /// once. A millisecond in place of the tick is nearer to what emulated hosts reach under loss.
  void find_growth(Time now, const Window& window, int acknowledged) {
    acknowledged_ += acknowledged;
    if (window.segments == found_for_ && now - found_at_ <= kPatience) return;
    if (epoch_ < 0 || now - found_at_ >= kMillisecond) {
      found_for_ = window.segments;
      found_at_ = now;
      if (epoch_ < 0) begin_epoch(now, window, acknowledged);
      per_ = by_curve(now, window.segments);
    }
    per_ = std::max(std::min(per_, by_reno(window.segments)), 2);
  }

  /// The curve a round trip ahead, in whole segments.
  int by_curve(Time now, int segments) const {
    const Time ahead = least_ == kNever ? 0 : least_;
    const double since = seconds(now - epoch_ + ahead) - rise_;
    const int off = static_cast<int>(std::min(kC * std::pow(std::abs(since), 3), 1e9));
    const int target = since < 0 ? origin_ - off : origin_ + off;
    const int per = target > segments ? segments / (target - segments) : 100 * segments;
    return most_ == 0 ? std::min(per, 20) : per;  // 0: the first epoch
  }

  int by_reno(int segments) {
    const double step = segments / kRenoGrowth;
    while (acknowledged_ > step) {
      acknowledged_ -= step;
      ++reno_;
    }
    return reno_ > segments ? segments / (reno_ - segments) : kAny;
  }

  static constexpr int kAny = 1 << 30;

  int most_ = 0;
  int origin_ = 0;
  double rise_ = 0;  ///< seconds until the window is where it was
  Time epoch_ = -1;
  int reno_ = 0;  ///< the window that Reno would have
  double acknowledged_ = 0;
  int per_ = 0;
  int found_for_ = 0;  ///< the window
  Time found_at_ = 0;
  Time least_ = kNever;
  HyStart hystart_;
};

}  // namespace

std::unique_ptr<Congestion> make_cubic() { return std::make_unique<Cubic>(); }

}  // namespace tw::netsim
