// SPDX-License-Identifier: Apache-2.0
// The exchange of a job's buckets: in order, here and now, or by a thread of its own while the
// caller computes on.

#pragma once

#include "trainwire/trainer/exchange.h"
#include "trainwire/trainer/step_log.h"
#include "trainwire/trainer/task.h"
#include "trainwire/workload/casts.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tw::trainer {

/// The connections of a rank as parts are made for them.
std::vector<workload::Wire> wires_of(std::span<const transport::tcp::Connection> connections);

class BucketExchange {
 public:
  /// REQUIRES: what is passed outlives it.
  BucketExchange(const Task& task, std::span<float> payload,
                 std::span<const transport::tcp::Connection> connections, StepLog& log,
                 ExchangeOptions options);
  ~BucketExchange();
  BucketExchange(const BucketExchange&) = delete;
  BucketExchange& operator=(const BucketExchange&) = delete;

  /// Brings the first model to every rank. Throws Error.
  void broadcast(std::int64_t step);
  /// Exchanges one bucket: here and now, or by the thread, after those begun before. Throws Error.
  void begin(std::int64_t step, int bucket);
  /// Until all that was begun is done. Throws what the thread met.
  void wait();

  /// Ends the thread: what it has not done is not done.
  void stop();

  /// Elements of a bucket, and where it begins.
  std::span<float> elements(int bucket) const;
  std::int64_t first_element(int bucket) const;
  const std::vector<WireCount>& counts() const { return exchange_.counts(); }

 private:
  struct Order {
    std::int64_t step;
    int bucket;
  };
  void exchange(std::int64_t step, int bucket);
  void work();
  void log_phases(std::int64_t step, int bucket, const ExchangeTimes& times);

  const Task& task_;
  std::span<float> payload_;
  std::vector<workload::Wire> wires_;
  StepLog& log_;
  Exchange exchange_;
  workload::Exchanges exchanges_;
  std::vector<workload::Cast> casts_;
  std::vector<Parts> buckets_;
  std::vector<workload::Range> ranges_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool busy_ = false;
  bool ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace tw::trainer
