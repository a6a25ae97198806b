// SPDX-License-Identifier: Apache-2.0
// When ranks' exchanges begin and end, noted in their jobs.

#pragma once

#include "trainwire/sim/simulate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw::sim {

class ExchangeLog {
 public:
  /// REQUIRES: the jobs outlive it.
  explicit ExchangeLog(std::vector<SimulatedJob>& jobs) : jobs_(jobs) {}

  void add_job(std::size_t ranks) { seen_.emplace_back(ranks); }
  /// Nothing happens to one that has begun already.
  void begin(std::size_t job, int rank, std::int64_t step, Duration now) {
    of(job, rank, step, now);
  }
  void moved(std::size_t job, const play::Moved& row) {
    Exchange& exchange = of(job, row.rank, row.message.step, row.at);
    exchange.end = std::max(exchange.end, row.at);
  }

 private:
  /// The exchange that a rank was seen in last.
  struct Seen {
    std::int64_t step = 0;
    Exchange* exchange = nullptr;
  };

  /// Begun now if it was not.
  Exchange& of(std::size_t job, int rank, std::int64_t step, Duration now) {
    Seen& seen = seen_[job][static_cast<std::size_t>(rank)];
    if (seen.exchange == nullptr || seen.step != step) {
      seen.step = step;
      seen.exchange = &jobs_[job]
                           .exchanges.try_emplace({rank, step}, Exchange{.begin = now, .end = now})
                           .first->second;
    }
    return *seen.exchange;
  }

  std::vector<SimulatedJob>& jobs_;
  std::vector<std::vector<Seen>> seen_;  ///< by job and rank
};

}  // namespace tw::sim
