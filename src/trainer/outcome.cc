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

}  // namespace tw::trainer
