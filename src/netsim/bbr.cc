// SPDX-License-Identifier: Apache-2.0
// BBR version 1 (Cardwell et al. 2016, 10.1145/3012426.3022184; draft-cardwell-iccrg-bbr-00): sends
// at the bandwidth that it has seen delivered, and keeps twice that for a least round trip on its
// way. Losses do not slow it down.
//
// Limits: no long-term estimate for policers.
#include "trainwire/netsim/congestion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tw::netsim {
namespace {

constexpr double kHighGain = 2885.0 / 1000;
constexpr double kDrainGain = 1000.0 / 2885;
constexpr std::array<double, 8> kCycle = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
constexpr int kBandwidthRounds = 10;
constexpr Time kRttWindow = 10'000 * kMillisecond;
constexpr Time kProbeRttTime = 200 * kMillisecond;
constexpr int kLeastWindow = 4;
constexpr double kMargin = 0.99;  ///< of the bandwidth, in the pace

/// The largest value of the last rounds.
class Largest {
 public:
  void take(double value, std::int64_t round) {
    std::int64_t at = round % kBandwidthRounds;
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    if (slot.round != round) slot = {.round = round, .value = 0};
    slot.value = std::max(slot.value, value);
    newest_ = round;
  }
  double value() const {
    double most = 0;
    for (const Slot& slot : slots_) {
      if (slot.round > newest_ - kBandwidthRounds) most = std::max(most, slot.value);
    }
    return most;
  }

 private:
  struct Slot {
    std::int64_t round = -kBandwidthRounds - 1;
    double value = 0;
  };
  std::array<Slot, kBandwidthRounds> slots_ = {};
  std::int64_t newest_ = 0;
};

class Bbr : public Congestion {
 public:
  int threshold(const Window& window, Cause) override {
    saved_ = std::max(saved_, window.segments);
    return 1 << 30;
  }
  void grow(const AckNews&, Window&) override {}
  bool owns_window() const override { return true; }
  double pace() const override { return pace_; }

  void hear(const AckNews& news, Window& window) override {
    take_round(news);
    take_bandwidth(news);
    take_cycle(news);
    take_startup(news);
    take_least_rtt(news, window);
    set_pace(news);
    set_window(news, window);
  }

  void timed_out(Window&) override { full_ = 0; }

 private:
  enum class Mode { Startup, Drain, ProbeBandwidth, ProbeRtt };

  void take_round(const AckNews& news) {
    round_start_ = false;
    if (news.prior_delivered < 0 || news.prior_delivered < round_end_) return;
    round_end_ = news.total_delivered;
    ++rounds_;
    round_start_ = true;
  }

  void take_bandwidth(const AckNews& news) {
    if (news.prior_delivered < 0 || news.interval <= 0 || news.interval < news.least_rtt) return;
    const double rate =
        static_cast<double>(news.total_delivered - news.prior_delivered) / seconds(news.interval);
    if (!news.app_limited || rate >= bandwidth_.value()) bandwidth_.take(rate, rounds_);
  }

  /// What is on its way at `gain` times the bandwidth and the least round trip.
  int inflight(double gain) const {
    if (least_ == kNever) return 10;
    const double product = bandwidth_.value() * seconds(least_);
    return static_cast<int>(std::ceil(gain * product)) + 3 * 2;
  }

  void take_cycle(const AckNews& news) {
    if (mode_ != Mode::ProbeBandwidth) return;
    const double gain = kCycle[phase_];
    const bool long_enough = news.now - cycle_begin_ > least_;
    bool next = long_enough;
    if (gain > 1) next = long_enough && (news.lost > 0 || news.in_flight_before >= inflight(gain));
    if (gain < 1) next = long_enough || news.in_flight_before <= inflight(1);
    if (!next) return;
    phase_ = (phase_ + 1) % kCycle.size();
    cycle_begin_ = news.now;
  }

  void take_startup(const AckNews& news) {
    if (!is_full_ && round_start_ && !news.app_limited) {
      if (bandwidth_.value() >= 1.25 * full_) {
        full_ = bandwidth_.value();
        full_rounds_ = 0;
      } else if (++full_rounds_ >= 3) {
        is_full_ = true;
      }
    }
    if (mode_ == Mode::Startup && is_full_) mode_ = Mode::Drain;
    if (mode_ == Mode::Drain && news.in_flight <= inflight(1)) enter_probe_bandwidth(news.now);
  }

  void enter_probe_bandwidth(Time now) {
    mode_ = Mode::ProbeBandwidth;
    phase_ = 2;
    cycle_begin_ = now;
  }

  void take_least_rtt(const AckNews& news, Window& window) {
    const bool expired = news.now > least_at_ + kRttWindow;
    if (news.rtt >= 0 && (news.rtt < least_ || expired)) {
      least_ = news.rtt;
      least_at_ = news.now;
    }
    if (expired && mode_ != Mode::ProbeRtt && least_at_ > 0 && rounds_ > 0) {
      mode_ = Mode::ProbeRtt;
      saved_ = std::max(saved_, window.segments);
      probe_end_ = -1;
    }
    if (mode_ != Mode::ProbeRtt) return;
    if (probe_end_ < 0 && news.in_flight <= kLeastWindow) {
      probe_end_ = news.now + kProbeRttTime;
    } else if (probe_end_ >= 0 && news.now > probe_end_) {
      least_at_ = news.now;
      window.segments = std::max(window.segments, saved_);
      if (is_full_) {
        enter_probe_bandwidth(news.now);
      } else {
        mode_ = Mode::Startup;
      }
    }
  }

  double pace_gain() const {
    switch (mode_) {
      case Mode::Startup:
        return kHighGain;
      case Mode::Drain:
        return kDrainGain;
      case Mode::ProbeBandwidth:
        return kCycle[phase_];
      case Mode::ProbeRtt:
        return 1;
    }
    return 1;
  }

  void set_pace(const AckNews& news) {
    if (pace_ == 0 && news.rtt > 0) pace_ = kHighGain * 10 / seconds(news.rtt);
    const double rate = kMargin * pace_gain() * bandwidth_.value();
    if (rate > 0 && (is_full_ || rate > pace_)) pace_ = rate;
  }

  void set_window(const AckNews& news, Window& window) {
    const bool starts = mode_ == Mode::Startup || mode_ == Mode::Drain;
    const int target = inflight(starts ? kHighGain : 2);
    if (news.lost > 0) window.segments = std::max(window.segments - news.lost, 1);
    if (news.state == State::Recovery && before_ != State::Recovery) {
      saved_ = std::max(saved_, window.segments);
      window.segments = news.in_flight + news.delivered;
      conserves_until_ = news.total_delivered + news.in_flight;
    } else if (before_ >= State::Recovery && news.state < State::Recovery) {
      window.segments = std::max(window.segments, std::exchange(saved_, 0));
    }
    before_ = news.state;
    if (news.state >= State::Recovery && news.total_delivered < conserves_until_) {
      window.segments = std::max(window.segments, news.in_flight + news.delivered);
    } else if (is_full_) {
      window.segments = std::min(window.segments + news.delivered, target);
    } else if (window.segments < target || news.total_delivered < 10) {
      window.segments += news.delivered;
    }
    window.segments = std::max(window.segments, kLeastWindow);
    if (mode_ == Mode::ProbeRtt) window.segments = std::min(window.segments, kLeastWindow);
  }

  Mode mode_ = Mode::Startup;
  Largest bandwidth_;  ///< segments a second
  Time least_ = kNever;
  Time least_at_ = 0;
  std::int64_t rounds_ = 0;
  std::int64_t round_end_ = 0;  ///< delivered
  bool round_start_ = false;
  double full_ = 0;
  int full_rounds_ = 0;
  bool is_full_ = false;
  std::size_t phase_ = 2;
  Time cycle_begin_ = 0;
  Time probe_end_ = -1;
  int saved_ = 0;
  std::int64_t conserves_until_ = 0;
  State before_ = State::Open;
  double pace_ = 0;
};

}  // namespace

std::unique_ptr<Congestion> make_bbr() { return std::make_unique<Bbr>(); }

}  // namespace tw::netsim
