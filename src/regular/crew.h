// SPDX-License-Identifier: Apache-2.0
// All ranks of a training that pass on whole transfers, in a few bytes each (tasks.h): who drives
// tells what has left and come and what time it is, and is told what ranks send and when to wake
// them, as play/player.h is driven.

#pragma once

#include "trainwire/regular/answer.h"
#include "trainwire/regular/tasks.h"
#include "trainwire/workload/compute_clock.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tw::regular {

/// A transfer on its way.
struct Errand {
  int from = 0;  ///< rank
  int to = 0;
  int round = 0;
  int chunk = 0;
  std::uint16_t task = 0;     ///< of the sender
  std::int64_t exchange = 0;  ///< counted over all buckets and steps
  std::int64_t bytes = 0;
};

class Crew {
 public:
  struct Asks {
    std::function<void(const Errand& errand)> send;
    std::function<void(int rank, Duration at)> wake;
  };
  /// REQUIRES: the training outlives it, and asks_for_players() is empty for it.
  Crew(const workload::Training& training, Tasks tasks, Asks asks);

  Duration start() const { return training_.start; }
  Line line(const Physics& physics, const Errand& errand) const;

  void begin();
  void woke(int rank, Duration now);
  void left(const Errand& errand, Duration now);
  void came(const Errand& errand, Duration now);

  JobAnswer answer() &&;

 private:
  /// Came before its receiver began that exchange.
  struct Early {
    std::int64_t exchange = 0;
    std::uint16_t task = 0;
  };
  struct Rank {
    Duration exchange_begin = Duration::max();  ///< of the step at hand
    Duration exchange_end = Duration::min();
    std::int64_t step = 0;       ///< counted from the first of warm-up
    std::size_t bucket = 0;      ///< that is being exchanged, or next
    std::size_t unfinished = 0;  ///< tasks of the exchange at hand
    std::vector<Early> early = {};
    bool waits = false;  ///< for a time
    workload::ComputeClock clock;

    void note(Duration now) {
      exchange_begin = std::min(exchange_begin, now);
      exchange_end = std::max(exchange_end, now);
    }
  };
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  bool begin_step(int rank, Duration now);
  void proceed(int rank, Duration now);
  bool is_computed(int rank, Duration now);
  void begin_exchange(int rank, Duration now);
  void end_step(int rank, Duration now);
  void end_wait(int rank, std::size_t task, Duration now);
  void finish(int rank, std::size_t task, Duration now);
  std::int64_t exchange_of(const Rank& rank) const;
  StepTimes& times_of(std::int64_t step);

  const workload::Training& training_;
  Tasks tasks_;
  int chunks_;
  Asks asks_;
  std::vector<Rank> ranks_ = {};
  std::vector<std::uint16_t> pending_;                  ///< by task: what it still waits for
  std::vector<std::shared_ptr<StepTimes>> times_ = {};  ///< by step
  JobAnswer answer_ = {};
};

}  // namespace tw::regular
