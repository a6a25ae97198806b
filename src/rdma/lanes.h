// SPDX-License-Identifier: Apache-2.0
// What waits before a line that can be told to hold packets back: a lane each for RDMA, which
// pauses, for everything else, and for notices, which go first. The two big ones share the line
// byte by byte while both have something to send.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace tw::rdma {

enum class Lane : std::uint8_t {
  Shared,    ///< dropped where the queue is full
  Lossless,  ///< paused before it is
  Urgent,    ///< before all others, never paused
};

template <class T>
class Lanes {
 public:
  void push(T what, Lane lane, int bytes) {
    Queue& queue = of(lane);
    // Who had nothing to send has no claim on what others sent meanwhile.
    if (queue.held.empty()) queue.served = std::max(queue.served, other(lane).served);
    queue.held.push_back({.what = std::move(what), .bytes = bytes});
    queue.bytes += bytes;
  }

  /// The next one that may leave.
  std::optional<T> take() {
    Queue* next = nullptr;
    for (const Lane lane : {Lane::Shared, Lane::Lossless}) {
      if (may_leave(lane) && (next == nullptr || of(lane).served < next->served)) next = &of(lane);
    }
    if (may_leave(Lane::Urgent)) next = &of(Lane::Urgent);
    if (next == nullptr) return {};
    const Held held = std::move(next->held.front());
    next->held.pop_front();
    next->bytes -= held.bytes;
    next->served += held.bytes;
    return held.what;
  }

  /// Of the lossless lane.
  void pause(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }
  double bytes(Lane lane) const { return queues_[index(lane)].bytes; }
  double bytes() const { return queues_[0].bytes + queues_[1].bytes + queues_[2].bytes; }

 private:
  struct Held {
    T what = {};
    int bytes = 0;
  };
  struct Queue {
    std::deque<Held> held = {};
    double bytes = 0;
    double served = 0;  ///< bytes; the lane that has been served less is next
  };
  static std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }
  Queue& of(Lane lane) { return queues_[index(lane)]; }
  Queue& other(Lane lane) { return of(lane == Lane::Shared ? Lane::Lossless : Lane::Shared); }
  bool may_leave(Lane lane) const {
    return !queues_[index(lane)].held.empty() && !(lane == Lane::Lossless && paused_);
  }

  std::array<Queue, 3> queues_ = {};
  bool paused_ = false;
};

}  // namespace tw::rdma
