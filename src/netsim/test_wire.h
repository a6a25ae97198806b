// SPDX-License-Identifier: Apache-2.0
// Networks for tests of TCP: one connection over a line that loses what the test says, and ports of
// one's choice with streams over them that do not end.

#pragma once

#include "trainwire/netsim/net.h"
#include "trainwire/netsim/receiver.h"
#include "trainwire/netsim/ring.h"
#include "trainwire/netsim/sender.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace tw::netsim {

inline constexpr std::int64_t kEndless = std::int64_t{1} << 50;

/// One connection over a line of `rate` and half a round trip each way. `loses` is asked of each
/// segment that is sent, with how many were sent before.
class Wire {
 public:
  using Loses = std::function<bool(const Packet& packet, std::int64_t number)>;

  Wire(const TcpOptions& options, BitRate rate, Duration round_trip, Loses loses)
      : way_(time_of(round_trip) / 2),
        ps_per_byte_(static_cast<Time>(8e12 / rate.bits_per_second())),
        loses_(std::move(loses)),
        sender(options, 0, [this](const Packet& packet, Time now) { return there(packet, now); }),
        receiver(options, 0, [this](const Packet& packet, Time now) {
          back_.push({.at = now + way_, .packet = packet});
        }) {}

  /// Until then; `each` is called after each event.
  void advance(Time until, const std::function<void(Time now)>& each = {}) {
    for (Time now = next(); now <= until; now = next()) {
      step(now);
      if (each) each(now);
    }
  }
  Time next() const {
    return std::min({first(there_), first(back_), sender.due(), receiver.due()});
  }
  std::int64_t sent() const { return sent_; }

 private:
  struct OnWay {
    Time at = 0;
    Packet packet = {};
  };

  static Time first(const Ring<OnWay>& way) { return way.empty() ? kNever : way.front().at; }
  Time there(const Packet& packet, Time now) {
    free_ = std::max(free_, now) + ps_per_byte_ * packet.frame_bytes;
    if (!loses_ || !loses_(packet, sent_)) there_.push({.at = free_ + way_, .packet = packet});
    ++sent_;
    return free_;
  }
  void step(Time now) {
    if (first(there_) <= now) {
      const Packet packet = there_.front().packet;
      there_.pop();
      receiver.arrived(packet, false, now);
    } else if (first(back_) <= now) {
      const Packet packet = back_.front().packet;
      back_.pop();
      sender.acknowledged(packet, now);
    } else {
      if (sender.due() <= now) sender.woken(now);
      if (receiver.due() <= now) receiver.woken(now);
    }
  }

  Time way_;
  Time ps_per_byte_;
  Loses loses_;
  Time free_ = 0;
  std::int64_t sent_ = 0;
  Ring<OnWay> there_;
  Ring<OnWay> back_;

 public:
  Sender sender;
  Receiver receiver;
};

/// Ports and what became of messages over them.
class Bed {
 public:
  explicit Bed(std::vector<PortSettings> ports, std::uint64_t seed = 1)
      : net(std::move(ports), seed,
            {.left = [this](std::uint64_t tag, Time) { ++left[tag]; },
             .came =
                 [this](std::uint64_t tag, Time now) {
                   came[tag] = now;
                   ++arrivals;
                 }}) {}

  /// A connection that sends without end, from now on.
  int stream(std::vector<int> there, std::vector<int> back, const TcpOptions& options,
             Time now = 0) {
    const int made = net.connect(std::move(there), std::move(back), options);
    net.send(made, kEndless, kEndless, kEndless + static_cast<std::uint64_t>(made), now);
    return made;
  }
  /// Bits of payload a second that each connection receives between two times.
  std::vector<double> rates(int connections, Time from, Time until) {
    net.advance(from);
    std::vector<std::int64_t> before;
    for (int i = 0; i < connections; ++i) before.push_back(net.received(i));
    net.advance(until);
    std::vector<double> rates;
    for (int i = 0; i < connections; ++i) {
      const auto bytes = net.received(i) - before[static_cast<std::size_t>(i)];
      rates.push_back(8.0 * static_cast<double>(bytes) / seconds(until - from));
    }
    return rates;
  }

  std::map<std::uint64_t, int> left;
  std::map<std::uint64_t, Time> came;
  std::int64_t arrivals = 0;
  Net net;
};

/// Jain's index: 1 where all are equal.
inline double fairness(const std::vector<double>& rates) {
  double sum = 0;
  double squares = 0;
  for (const double rate : rates) {
    sum += rate;
    squares += rate * rate;
  }
  return sum * sum / (static_cast<double>(rates.size()) * squares);
}

}  // namespace tw::netsim
