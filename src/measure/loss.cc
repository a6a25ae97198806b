// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/loss.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <vector>

namespace tw::measure {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Stream {
 public:
  Stream(const PathEnd& from, const PathEnd& to, const LossOptions& options)
      : from_(from), to_(to), options_(options), seen_(options.packets) {
    join(from_, to_);
    wake_path(from_, to_);
  }

  MeasuredLoss run() {
    send_all();
    collect_rest();
    return {.sent = options_.packets, .received = received_};
  }

 private:
  /// When packet `number` is due, after the start.
  Duration due(std::uint64_t number) const {
    return from_seconds(static_cast<double>(number) / options_.per_second);
  }
  void send_all() {
    const auto start = Clock::now();
    std::uint64_t next = 0;
    while (next < options_.packets) {
      while (next < options_.packets && Clock::now() - start >= due(next) && send(next)) ++next;
      // By the clock, not by arrivals: a wake-up for each of them would cost more than all else.
      wait_for({}, nullptr, std::max<Duration>(1ms, due(next) - (Clock::now() - start)));
      receive();
    }
  }
  bool send(std::uint64_t number) {
    std::array<std::byte, kLossProbeBytes> payload = {};
    std::memcpy(payload.data(), &number, sizeof number);
    return from_.send(payload);
  }
  void collect_rest() {
    const auto end = Clock::now() + options_.patience;
    const std::array<ProbeSocket*, 1> sockets = {&to_};
    while (received_ < options_.packets && Clock::now() < end) {
      wait_for(sockets, nullptr, end - Clock::now());
      receive();
    }
  }
  void receive() {
    to_.receive([this](const ProbeArrival& arrival) {
      std::uint64_t number = 0;
      if (arrival.payload.size() != kLossProbeBytes) return;
      std::memcpy(&number, arrival.payload.data(), sizeof number);
      if (number >= seen_.size() || seen_[number]) return;
      seen_[number] = true;
      ++received_;
    });
  }

  ProbeSocket from_;
  ProbeSocket to_;
  LossOptions options_;
  std::vector<bool> seen_;
  std::uint64_t received_ = 0;
};

}  // namespace

MeasuredLoss measure_loss(const PathEnd& from, const PathEnd& to, const LossOptions& options) {
  check(options.packets > 0 && options.per_second > 0, "some packets are sent");
  return Stream(from, to, options).run();
}

}  // namespace tw::measure
