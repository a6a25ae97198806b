// SPDX-License-Identifier: Apache-2.0
// A server of an asynchronous parameter-server job: adds what a worker pushes to its shard and
// answers that worker at once, whatever the others do.

#pragma once

#include "trainwire/trainer/exchange.h"
#include "trainwire/trainer/learnt.h"
#include "trainwire/trainer/step_log.h"
#include "trainwire/trainer/task.h"

#include <functional>
#include <span>
#include <vector>

namespace tw::trainer {

class AsyncServer {
 public:
  /// REQUIRES: what is passed outlives it; task.is_server().
  AsyncServer(const Task& task, std::span<float> payload,
              std::span<const transport::tcp::Connection> connections, StepLog& log,
              ExchangeOptions options);

  /// Serves all steps of all workers. `told` is called with the least step that any worker is in.
  /// Throws Error that names the worker whose connection broke.
  void run(const std::function<void(std::int64_t step)>& told);

  const std::vector<WireCount>& counts() const { return counts_; }

  /// How old what workers had was when they pushed.
  const Staleness& staleness() const { return staleness_; }

 private:
  /// A bucket's bytes that one worker pushes here and gets back.
  struct Shard {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    collective::Transfer push = {};
    collective::Transfer reply = {};
  };
  /// One worker's connection: which bucket of which step it is at.
  struct Client {
    std::vector<Shard> buckets = {};
    std::int64_t step = 0;
    int bucket = 0;
    bool answers = false;
    std::int64_t position = 0;
    std::int64_t phase_ns = 0;
    std::vector<std::byte> carry = {};
    bool done = false;
    std::int64_t answered = 0;  ///< pushes of others when it was answered last
    std::int64_t pushed = 0;    ///< by this worker
  };

  void count_push(Client& client);
  bool serve(std::size_t wire);
  bool receive(Client& client, std::size_t wire);
  bool answer(Client& client, std::size_t wire);
  void advance(Client& client, std::size_t wire);
  void wait();
  std::int64_t least_step() const;

  const Task& task_;
  std::span<float> payload_;
  std::span<const transport::tcp::Connection> connections_;
  StepLog& log_;
  ExchangeOptions options_;
  std::vector<Client> clients_;
  std::vector<WireCount> counts_;
  std::vector<std::byte> scratch_;
  transport::tcp::Patience patience_;
  Staleness staleness_ = {};
};

}  // namespace tw::trainer
