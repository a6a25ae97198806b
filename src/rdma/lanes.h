// SPDX-License-Identifier: Apache-2.0
// What waits before a line that can be told to hold packets back: a lane each for RDMA, which
// pauses, for everything else, and for notices, which go first. The two big ones share the line
// byte by byte while both have something to send.
//
// There are such lanes for each priority; of the highest that may leave goes first, and alone. A
// pause holds RDMA of all priorities back.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace tw::rdma {

enum class Lane : std::uint8_t {
  Shared,    ///< dropped where the queue is full
  Lossless,  ///< paused before it is
  Urgent,    ///< before all others, never paused
};

template <class T>
class Lanes {
 public:
  /// REQUIRES: priority >= 0.
  void push(T what, Lane lane, int bytes, int priority = 0) {
    if (levels_.size() <= index(priority)) levels_.resize(index(priority) + 1);
    Level& level = levels_[index(priority)];
    Queue& queue = level.of(lane);
    // Who had nothing to send has no claim on what others sent meanwhile.
    if (queue.held.empty()) queue.served = std::max(queue.served, level.other(lane).served);
    queue.held.push_back({.what = std::move(what), .bytes = bytes});
    queue.bytes += bytes;
  }

  /// The next one that may leave.
  std::optional<T> take() {
    for (std::size_t i = levels_.size(); i-- > 0;) {
      if (std::optional<T> next = take(levels_[i])) return next;
    }
    return {};
  }

  /// Of the lossless lanes.
  void pause(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }
  double bytes(Lane lane, int priority = 0) const {
    return index(priority) < levels_.size() ? levels_[index(priority)].of(lane).bytes : 0;
  }
  /// Of that priority and all above.
  double bytes_from(int priority) const {
    double sum = 0;
    for (std::size_t i = index(priority); i < levels_.size(); ++i) {
      for (const Queue& queue : levels_[i].queues) sum += queue.bytes;
    }
    return sum;
  }
  double bytes() const { return bytes_from(0); }

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
  struct Level {
    std::array<Queue, 3> queues = {};
    Queue& of(Lane lane) { return queues[static_cast<std::size_t>(lane)]; }
    const Queue& of(Lane lane) const { return queues[static_cast<std::size_t>(lane)]; }
    Queue& other(Lane lane) { return of(lane == Lane::Shared ? Lane::Lossless : Lane::Shared); }
  };
  static std::size_t index(int priority) { return static_cast<std::size_t>(priority); }

  std::optional<T> take(Level& level) {
    const auto may_leave = [&](Lane lane) {
      return !level.of(lane).held.empty() && !(lane == Lane::Lossless && paused_);
    };
    Queue* next = nullptr;
    for (const Lane lane : {Lane::Shared, Lane::Lossless}) {
      if (may_leave(lane) && (next == nullptr || level.of(lane).served < next->served)) {
        next = &level.of(lane);
      }
    }
    if (may_leave(Lane::Urgent)) next = &level.of(Lane::Urgent);
    if (next == nullptr) return {};
    const Held held = std::move(next->held.front());
    next->held.pop_front();
    next->bytes -= held.bytes;
    next->served += held.bytes;
    return held.what;
  }

  std::vector<Level> levels_ = std::vector<Level>(1);  ///< by priority
  bool paused_ = false;
};

}  // namespace tw::rdma
