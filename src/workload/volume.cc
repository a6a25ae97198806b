// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/volume.h"

#include "trainwire/collective/count.h"

namespace tw::workload {
namespace {

using Matrix = std::vector<std::vector<std::int64_t>>;

/// An exchange that is done so many times.
struct Repeated {
  collective::Schedule schedule;
  std::int64_t elements;
  std::int64_t times;
};

std::vector<Repeated> exchanges_of(const Training& training) {
  std::vector<Repeated> all;
  if (training.row().draws_peers) {
    for (std::int64_t step = -training.warmup; step < training.steps; ++step) {
      all.push_back({step_schedule(training, step), training.elements(), 1});
    }
  } else {
    const collective::Schedule schedule = step_schedule(training);
    for (const Bucket& bucket : training.buckets) {
      all.push_back({schedule, bucket.elements, training.steps + training.warmup});
    }
  }
  for (const int bucket : start_buckets(training)) {
    all.push_back({start_schedule(training), training.range(bucket).elements, 1});
  }
  return all;
}

void add(const Repeated& exchange, const collective::Strand& strand, Row& row) {
  const std::int64_t factor = exchange.times * kElementBytes;
  if (strand.to_stride == 0) {
    row[strand.to] +=
        factor * collective::strand_elements(exchange.schedule, strand, exchange.elements);
    return;
  }
  for (std::int64_t i = 0; i < strand.count; ++i) {
    const collective::Transfer t = transfer(exchange.schedule, strand, i);
    row[t.to] += factor * range_of(exchange.schedule, t, exchange.elements).elements;
  }
}

}  // namespace

void for_each_row(const Training& training,
                  const std::function<void(int from, const Row& bytes)>& visit) {
  const std::vector<Repeated> exchanges = exchanges_of(training);
  for (int rank = 0; rank < training.ranks(); ++rank) {
    Row row;
    for (const Repeated& exchange : exchanges) {
      for (const collective::Strand& strand : exchange.schedule.program(rank)) {
        if (strand.from == rank && strand.from_stride == 0) add(exchange, strand, row);
      }
    }
    std::erase_if(row, [](const auto& to) { return to.second == 0; });
    visit(rank, row);
  }
}

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
  for_each_row(training, [&](int from, const Row& row) {
    for (const auto& [to, count] : row) {
      bytes[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = count;
    }
  });
  return bytes;
}

}  // namespace tw::workload
