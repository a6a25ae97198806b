// SPDX-License-Identifier: Apache-2.0
// What BBR's estimate of the bandwidth does to messages that are shorter than a round trip (Cardwell et
// al. 2016, 10.1145/3012426.3022184; Linux's tcp_bbr.c).
//
// A *flight* is what is sent from when nothing is on its way until that is so again. What was sent
// before the first answer is counted over the time until it is answered, a round trip more than sending
// took; so a flight of S bytes looks like S / (t + R), and the pace of startup, 2.885 times that, has
// each such flight take half a round trip. Only who sends for longer finds the path's rate and leaves
// startup.

#pragma once

#include <algorithm>
#include <limits>

namespace tw::fluid {

class BbrFlight {
 public:
  void begin(double now_s) {
    begin_s_ = round_s_ = now_s;
    bytes_ = round_bytes_ = 0;
  }
  void sent(double bytes, double now_s, double rtt_s) {
    bytes_ += bytes;
    round_bytes_ += bytes;
    const double lasts_s = now_s - begin_s_;
    if (lasts_s < rtt_s) {
      bandwidth_ = std::max(bandwidth_, bytes_ / (lasts_s + rtt_s));
      grown_s_ = now_s;  // what was sent in the first round says nothing of the path
      return;
    }
    if (now_s - round_s_ < rtt_s) return;
    bandwidth_ = std::max(bandwidth_, round_bytes_ / (now_s - round_s_));
    round_s_ = now_s;
    round_bytes_ = 0;
    if (bandwidth_ >= kGrows * grown_) {
      grown_ = bandwidth_;
      grown_s_ = now_s;
    }
    found_ = found_ || now_s - grown_s_ > kRounds * rtt_s;
  }
  /// Bytes that are on their way at most.
  double window(double rtt_s, double segment_bytes) const {
    if (bandwidth_ <= 0) return std::numeric_limits<double>::infinity();
    return (found_ ? kKeeps : kGain) * bandwidth_ * rtt_s + kBeside * segment_bytes;
  }
  /// Bytes a second at most, `first` without an estimate.
  double pace(double first) const {
    return found_ ? std::numeric_limits<double>::infinity() : kGain * std::max(bandwidth_, first);
  }

 private:
  static constexpr double kGain = 2.885;  ///< of startup
  static constexpr double kKeeps = 2;     ///< after it: times what path and bandwidth hold
  static constexpr double kBeside = 6;    ///< segments: three trains
  static constexpr double kRounds = 3;    ///< without growth end startup
  static constexpr double kGrows = 1.25;

  double begin_s_ = 0;
  double bytes_ = 0;
  double round_s_ = 0;  ///< of the flight, when its present round began
  double round_bytes_ = 0;
  double bandwidth_ = 0;
  double grown_ = 0;  ///< the bandwidth when it last grew
  double grown_s_ = 0;
  bool found_ = false;
};

}  // namespace tw::fluid
