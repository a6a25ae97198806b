// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/volume.h"

#include "trainwire/collective/count.h"

namespace tw::workload {
namespace {

using Matrix = std::vector<std::vector<std::int64_t>>;

/// What one exchange moves, so many times.
void add(const collective::Schedule& schedule, std::int64_t elements, std::int64_t times,
         Matrix& bytes) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const collective::Transfer& t : transfers_of(schedule, rank)) {
      if (t.from != rank) continue;
      bytes[static_cast<std::size_t>(t.from)][static_cast<std::size_t>(t.to)] +=
          times * kElementBytes * range_of(schedule, t, elements).elements;
    }
  }
}

}  // namespace

Bytes demand(const Training& training) {
  const collective::Schedule schedule = step_schedule(training);
  std::int64_t elements = 0;
  for (const Bucket& bucket : training.buckets) {
    elements += collective::count(schedule, training.arrangement.layout, bucket.elements)
                    .rank_sent_elements_max;
  }
  return Bytes(kElementBytes * elements);
}

Bytes start_bytes(const Training& training) {
  const std::vector<int> buckets = start_buckets(training);
  if (buckets.empty()) return Bytes(0);
  const collective::Schedule schedule = start_schedule(training);
  std::int64_t elements = 0;
  for (const int bucket : buckets) {
    const collective::Count count =
        collective::count(schedule, training.arrangement.layout, training.range(bucket).elements);
    elements += count.elements - count.local_elements;
  }
  return Bytes(kElementBytes * elements);
}

Matrix bytes_by_rank(const Training& training) {
  const auto ranks = static_cast<std::size_t>(training.ranks());
  Matrix bytes(ranks, std::vector<std::int64_t>(ranks));
  if (training.row().draws_peers) {
    for (std::int64_t step = -training.warmup; step < training.steps; ++step) {
      add(step_schedule(training, step), training.elements(), 1, bytes);
    }
  } else {
    const collective::Schedule schedule = step_schedule(training);
    for (const Bucket& bucket : training.buckets) {
      add(schedule, bucket.elements, training.steps + training.warmup, bytes);
    }
  }
  for (const int bucket : start_buckets(training)) {
    add(start_schedule(training), training.range(bucket).elements, 1, bytes);
  }
  return bytes;
}

}  // namespace tw::workload
