// SPDX-License-Identifier: Apache-2.0
// Asynchronous pair averaging: a rank pulls another's model when it likes and averages it with its
// own; a thread answers the others' pulls meanwhile.
//
// Between two ranks there are two connections: on lane 0 the lower rank pulls, on lane 1 the
// higher. A pull is a request of 8 bytes (the puller's step) and the whole payload as answer.
// Blocks of the model are read and written under a lock, so an answer may hold blocks of before and
// after an averaging, but never half of a number.

#pragma once

#include "trainwire/trainer/exchange.h"
#include "trainwire/trainer/step_log.h"
#include "trainwire/trainer/task.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace tw::trainer {

inline constexpr std::size_t kRequestBytes = 8;

class PairAverager {
 public:
  /// `look` is called while a pull waits, and may throw. REQUIRES: what is passed outlives it.
  PairAverager(const Task& task, std::span<float> payload,
               std::span<const transport::tcp::Connection> connections, StepLog& log,
               TransferLog& transfers, std::function<void()> look = {});
  ~PairAverager();
  PairAverager(const PairAverager&) = delete;
  PairAverager& operator=(const PairAverager&) = delete;

  /// Averages with the peer that this step draws. Throws Error.
  void pull(std::int64_t step);

  /// Changes the model while nobody reads it.
  void change(const std::function<void()>& how);
  /// As it is now.
  std::vector<float> model();

  /// Answers nobody any more. To be called once all have pulled what they want.
  void stop();
  /// By connection. REQUIRES: stopped.
  std::vector<WireCount> counts() const;

 private:
  /// A connection on which the peer pulls.
  struct Client {
    std::size_t wire = 0;
    std::size_t request = 0;  ///< bytes of the next request that have come
    std::int64_t step = 0;    ///< of the puller, that it says
    std::int64_t left = 0;    ///< bytes still to be answered
    bool gone = false;
  };

  void answer_all();
  bool answer(Client& client);
  void receive_payload(std::size_t wire);
  void log_transfer(std::int64_t step, int from, int to, std::size_t wire);
  std::size_t wire_for(int peer) const;

  const Task& task_;
  std::span<float> payload_;
  std::span<const transport::tcp::Connection> connections_;
  StepLog& log_;
  TransferLog& transfers_;
  std::function<void()> look_;
  std::vector<Client> clients_;
  std::vector<std::atomic<std::int64_t>> sent_;
  std::vector<std::int64_t> requests_;
  std::vector<std::byte> scratch_;
  std::mutex model_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace tw::trainer
