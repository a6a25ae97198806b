// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/bucket_exchange.h"

#include "trainwire/base/error.h"

#include <algorithm>

namespace tw::trainer {

std::vector<workload::Wire> wires_of(std::span<const transport::tcp::Connection> connections) {
  std::vector<workload::Wire> wires;
  for (const auto& c : connections) wires.push_back({.peer = c.peer, .lane = c.lane});
  return wires;
}

BucketExchange::BucketExchange(const Task& task, std::span<float> payload,
                               std::span<const transport::tcp::Connection> connections,
                               StepLog& log, ExchangeOptions options)
    : task_(task),
      payload_(payload),
      wires_(wires_of(connections)),
      log_(log),
      exchange_(payload, connections, std::move(options)),
      exchanges_(exchanges_of(task.training)) {
  if (task.casting.multicasts) casts_ = casts_of(task.training, exchanges_);
  for (int bucket = 0; bucket < static_cast<int>(task.training.buckets.size()); ++bucket) {
    ranges_.push_back(task.training.range(bucket));
    Parts& parts =
        buckets_.emplace_back(step_parts(task.training, exchanges_, task.rank, bucket, wires_));
    use_casts(parts, task.training, exchanges_.step, task.rank, casts_, wires_);
  }
  check(static_cast<std::size_t>(task.training.elements()) <= payload.size(),
        "the payload holds all buckets");
}

BucketExchange::~BucketExchange() { stop(); }

void BucketExchange::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    orders_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

std::span<float> BucketExchange::elements(int bucket) const {
  const workload::Range& range = ranges_[static_cast<std::size_t>(bucket)];
  return payload_.subspan(static_cast<std::size_t>(range.first),
                          static_cast<std::size_t>(range.elements));
}

std::int64_t BucketExchange::first_element(int bucket) const {
  return ranges_[static_cast<std::size_t>(bucket)].first;
}

void BucketExchange::broadcast(std::int64_t step) {
  ExchangeTimes all;
  std::int64_t bytes = 0;
  for (const int bucket : start_buckets(task_.training)) {
    Parts parts = start_parts(task_.training, exchanges_, task_.rank, bucket, wires_);
    use_casts(parts, task_.training, *exchanges_.start, task_.rank, casts_, wires_);
    const ExchangeTimes times = exchange_.run(parts, step);
    if (all.begin_ns == 0) all = times;
    all.end_ns = times.end_ns;
    all.queued_end = times.queued_end;
    bytes += times.replaced_bytes;
  }
  log_.add({.step = step,
            .name = "broadcast",
            .begin_ns = all.begin_ns,
            .end_ns = all.end_ns,
            .bytes = bytes,
            .queued = all.queued_end});
}

void BucketExchange::exchange(std::int64_t step, int bucket) {
  Parts& parts = buckets_[static_cast<std::size_t>(bucket)];
  parts.rewind();
  if (task_.is_server()) std::ranges::fill(elements(bucket), 0.0f);
  const ExchangeTimes times = exchange_.run(parts, step);
  log_phases(step, bucket, times);
}

void BucketExchange::log_phases(std::int64_t step, int bucket, const ExchangeTimes& times) {
  // A server waits until workers have computed: its exchange begins with their first byte.
  const std::int64_t begin = task_.is_server() ? times.first_ns : times.begin_ns;
  log_.add({.step = step,
            .name = "exchange",
            .bucket = bucket,
            .begin_ns = begin,
            .end_ns = times.end_ns,
            .bytes = times.added_bytes + times.replaced_bytes,
            .queued = times.queued_end});
  if (!task_.training.row().has_servers) return;
  log_.add({.step = step,
            .name = "aggregation",
            .bucket = bucket,
            .begin_ns = begin,
            .end_ns = times.summed_ns,
            .bytes = times.added_bytes,
            .queued = times.queued_summed});
  log_.add({.step = step,
            .name = "distribution",
            .bucket = bucket,
            .begin_ns = times.summed_ns,
            .end_ns = times.end_ns,
            .bytes = times.replaced_bytes,
            .queued = times.queued_end});
}

void BucketExchange::begin(std::int64_t step, int bucket) {
  if (!task_.training.overlap) return exchange(step, bucket);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back({.step = step, .bucket = bucket});
  }
  changed_.notify_all();
}

void BucketExchange::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || (orders_.empty() && !busy_); });
  if (failure_) std::rethrow_exception(failure_);
}

void BucketExchange::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !orders_.empty(); });
    if (ends_) return;
    const Order order = orders_.front();
    orders_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      exchange(order.step, order.bucket);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    failure_ = failure;
    changed_.notify_all();
    if (failure) return;
  }
}

}  // namespace tw::trainer
