// SPDX-License-Identifier: Apache-2.0
// When ranks begin and end their steps, and exchanges in them, noted rank by rank.

#pragma once

#include "trainwire/regular/rings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tw::regular {

class StepLog {
 public:
  /// All ranks begin their first step. REQUIRES: the training outlives it.
  explicit StepLog(const workload::Training& training)
      : training_(training), ranks_(static_cast<std::size_t>(training.ranks())) {
    for (int rank = 0; rank < training.ranks(); ++rank) begin(rank, training.start);
  }

  /// Whether a rank has done all its steps.
  bool is_over(int rank) const { return of(rank).step == training_.warmup + training_.steps; }
  /// Of its exchanges: something happened at both times.
  void note(int rank, Duration first, Duration last) {
    Rank& at = of(rank);
    at.exchange_begin = std::min(at.exchange_begin, first);
    at.exchange_end = std::max(at.exchange_end, last);
  }
  /// Its step has ended, and the next one begins.
  void end(int rank, Duration now) {
    Rank& at = of(rank);
    StepTimes& times = times_of(at.step);
    const auto place = static_cast<std::size_t>(rank);
    times.end[place] = now;
    times.exchange_begin[place] = at.exchange_begin;
    times.exchange_end[place] = at.exchange_end;
    last_ = std::max(last_, now);
    at = {.step = at.step + 1};
    begin(rank, now);
  }

  RingTimes times() && {
    RingTimes made{.end = std::max(last_, training_.start)};
    for (std::size_t i = 0; i < times_.size(); ++i) {
      made.steps.push_back(
          {.step = static_cast<std::int64_t>(i) - training_.warmup, .times = std::move(times_[i])});
    }
    return made;
  }

 private:
  struct Rank {
    std::int64_t step = 0;  ///< counted from the first of warm-up
    Duration exchange_begin = Duration::max();
    Duration exchange_end = Duration::min();
  };
  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  void begin(int rank, Duration now) {
    if (!is_over(rank)) times_of(of(rank).step).begin[static_cast<std::size_t>(rank)] = now;
  }
  StepTimes& times_of(std::int64_t step) {
    if (times_.size() == static_cast<std::size_t>(step)) {
      const std::vector<Duration> none(ranks_.size());
      times_.push_back(std::make_shared<StepTimes>(StepTimes{none, none, none, none}));
    }
    return *times_[static_cast<std::size_t>(step)];
  }

  const workload::Training& training_;
  std::vector<Rank> ranks_;
  std::vector<std::shared_ptr<StepTimes>> times_ = {};
  Duration last_ = {};
};

}  // namespace tw::regular
