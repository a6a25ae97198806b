// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/outcome.h"

#include "trainwire/collective/goal.h"
#include "trainwire/trainer/gradients.h"

namespace tw::trainer {

using collective::Held;

Outcome outcome_of(const collective::Schedule& schedule, int rank, std::span<const float> bucket,
                   std::int64_t first, std::int64_t step) {
  Outcome outcome;
  const auto elements = static_cast<std::int64_t>(bucket.size());
  // Neighbouring chunks that must hold the same are checked together.
  for (int chunk = 0, end = 0; chunk < schedule.chunks; chunk = end) {
    const Held held = held_in_the_end(schedule, rank, chunk);
    for (end = chunk + 1; end < schedule.chunks; ++end) {
      if (held_in_the_end(schedule, rank, end) != held) break;
    }
    if (held.what == Held::What::Open) continue;
    const std::int64_t from = collective::chunk_begin(elements, schedule.chunks, chunk);
    const std::int64_t to = collective::chunk_begin(elements, schedule.chunks, end);
    const auto part =
        bucket.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    outcome.checked += to - from;
    outcome.wrong += held.what == Held::What::Sum
                         ? wrong_sums(part, first + from, schedule.workers, step)
                         : wrong_copies(part, first + from, held.of, step);
  }
  return outcome;
}

Outcome outcome_of_step(const workload::Training& training, const collective::Schedule& schedule,
                        int rank, std::span<const float> payload, std::int64_t step) {
  Outcome all;
  for (int bucket = 0; bucket < static_cast<int>(training.buckets.size()); ++bucket) {
    const workload::Range range = training.range(bucket);
    const Outcome one = outcome_of(schedule, rank,
                                   payload.subspan(static_cast<std::size_t>(range.first),
                                                   static_cast<std::size_t>(range.elements)),
                                   range.first, step);
    all.checked += one.checked;
    all.wrong += one.wrong;
  }
  return all;
}

Outcome outcome_of_shards(const workload::Training& training, int rank,
                          std::span<const float> payload) {
  Outcome outcome;
  const int servers = training.arrangement.servers;
  const int shard = rank - training.workers();
  for (int bucket = 0; bucket < static_cast<int>(training.buckets.size()); ++bucket) {
    const workload::Range range = training.range(bucket);
    const std::int64_t begin =
        range.first + collective::chunk_begin(range.elements, servers, shard);
    const std::int64_t count = collective::chunk_elements(range.elements, servers, shard);
    outcome.checked += count;
    outcome.wrong += wrong_totals(
        payload.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)), begin,
        training.workers(), -training.warmup, training.steps);
  }
  return outcome;
}

}  // namespace tw::trainer
