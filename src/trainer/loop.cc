// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/loop.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/trainer/async_server.h"
#include "trainwire/trainer/bucket_exchange.h"
#include "trainwire/trainer/gradients.h"
#include "trainwire/trainer/outcome.h"
#include "trainwire/trainer/pair_averager.h"
#include "trainwire/trainer/side_talk.h"
#include "trainwire/trainer/socket_log.h"
#include "trainwire/workload/compute_clock.h"

#include <algorithm>
#include <numeric>

namespace tw::trainer {
namespace {

using Connections = std::span<const transport::tcp::Connection>;
using Told = std::function<void(std::int64_t)>;

class Loop {
 public:
  Loop(const Task& task, const RankConnections& connections, const Told& told)
      : task_(task),
        connections_(connections.gradient),
        side_(connections.side, task.patience),
        told_(told),
        payload_(static_cast<std::size_t>(task.training.elements())),
        log_(task.log),
        sockets_(task.sockets, connections.gradient),
        compute_(task.training, task.rank) {}

  LoopResult run(const std::function<void()>& leave) && {
    LoopResult result = work(leave);
    result.counts.insert(result.counts.end(), side_.counts().begin(), side_.counts().end());
    return result;
  }

 private:
  LoopResult work(const std::function<void()>& leave) {
    if (task_.training.row().draws_peers) return average_pairs(leave);
    if (task_.training.arrangement.asynchronous && task_.is_server()) return serve(leave);
    return train(leave);
  }

  ExchangeOptions options() {
    return {.patience = task_.patience, .tick = [this](std::int64_t) { sockets_.sample(); }};
  }

  void flush() {
    log_.flush();
    sockets_.flush();
  }

  /// All ranks exchange in step.
  LoopResult train(const std::function<void()>& leave) {
    BucketExchange exchange(task_, payload_, connections_, log_, options());
    broadcast(exchange);
    for (std::int64_t step = -task_.training.warmup; step < task_.training.steps; ++step) {
      told_(step);
      train_step(exchange, step);
      flush();
    }
    leave();
    result_.counts = exchange.counts();
    return std::move(result_);
  }

  void broadcast(BucketExchange& exchange) {
    if (start_buckets(task_.training).empty()) return;
    constexpr std::int64_t kModel = 0;  // the first model is made like the gradients of step 0
    const bool holds_it = task_.training.row().has_servers ? task_.is_server() : task_.rank == 0;
    if (task_.verify && holds_it) fill(payload_, 0, 0, kModel);
    exchange.broadcast(-task_.training.warmup - 1);
    if (task_.verify && !task_.is_server()) {
      result_.checked += task_.training.elements();
      result_.wrong += wrong_copies(payload_, 0, 0, kModel);
    }
    flush();
  }

  void train_step(BucketExchange& exchange, std::int64_t step) {
    const std::int64_t begin = os::monotonic_ns();
    compute_.begin_step(begin);
    if (!task_.is_server()) forward(step, begin);
    // Who goes its own pace has nothing to agree on.
    if (!task_.training.arrangement.asynchronous) side_.talk();
    backward_and_exchange(exchange, step);
    const std::int64_t exchanged = os::monotonic_ns();
    if (task_.verify) verify(step);
    if (!task_.is_server()) optimise(step, exchanged);
    log_.add({.step = step, .name = "step", .begin_ns = begin, .end_ns = os::monotonic_ns()});
  }

  void forward(std::int64_t step, std::int64_t begin) {
    os::sleep_until(compute_.forward_end_ns());
    if (task_.training.compute.forward.count() == 0) return;
    log_.add({.step = step, .name = "forward", .begin_ns = begin, .end_ns = os::monotonic_ns()});
  }

  void backward_and_exchange(BucketExchange& exchange, std::int64_t step) {
    const std::int64_t begin = os::monotonic_ns();
    const int buckets = static_cast<int>(task_.training.buckets.size());
    for (int bucket = 0; bucket < buckets; ++bucket) {
      if (!task_.is_server()) fill_bucket(exchange, step, bucket);
      if (task_.training.overlap) exchange.begin(step, bucket);
    }
    const std::int64_t computed = os::monotonic_ns();
    if (!task_.is_server() && task_.training.compute.backward.count() > 0) {
      log_.add({.step = step, .name = "backward", .begin_ns = begin, .end_ns = computed});
    }
    for (int bucket = 0; !task_.training.overlap && bucket < buckets; ++bucket) {
      exchange.exchange(step, bucket);
    }
    if (task_.training.overlap) exchange.wait();
    log_.add({.step = step, .name = "wait", .begin_ns = computed, .end_ns = os::monotonic_ns()});
  }

  /// Backward, as far as a bucket's gradients.
  void fill_bucket(BucketExchange& exchange, std::int64_t step, int bucket) {
    os::sleep_until(
        compute_.ready_ns(task_.training.buckets[static_cast<std::size_t>(bucket)].ready));
    if (!task_.verify) return;
    fill(exchange.elements(bucket), exchange.first_element(bucket), task_.rank, step);
  }

  void verify(std::int64_t step) {
    // A server of a synchronous job holds its shards only, which its workers get and check; an
    // asynchronous worker gets what is there, and its server is checked at the end.
    if (task_.is_server() || task_.training.arrangement.asynchronous) return;
    const collective::Schedule schedule = step_schedule(task_.training);
    std::int64_t first = 0;
    for (const workload::Bucket& bucket : task_.training.buckets) {
      const auto elements = std::span(payload_).subspan(static_cast<std::size_t>(first),
                                                        static_cast<std::size_t>(bucket.elements));
      const Outcome outcome = outcome_of(schedule, task_.rank, elements, first, step);
      result_.checked += outcome.checked;
      result_.wrong += outcome.wrong;
      first += bucket.elements;
    }
  }

  /// Sums become means, which is all that is left of an optimiser without parameters.
  void optimise(std::int64_t step, std::int64_t begin) {
    if (task_.training.compute.backward.count() == 0) return;
    const float share = 1.0f / static_cast<float>(std::max(task_.training.workers(), 1));
    for (float& element : payload_) element *= share;
    log_.add({.step = step, .name = "optimiser", .begin_ns = begin, .end_ns = os::monotonic_ns()});
  }

  LoopResult serve(const std::function<void()>& leave) {
    if (!start_buckets(task_.training).empty()) {
      BucketExchange exchange(without_thread(), payload_, connections_, log_, options());
      broadcast(exchange);
      result_.counts = exchange.counts();
      std::ranges::fill(payload_, 0.0f);
    }
    AsyncServer server(task_, payload_, connections_, log_, options());
    server.run(told_);
    flush();
    if (task_.verify) verify_shards();
    leave();
    result_.counts.resize(connections_.size());
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      result_.counts[i].sent += server.counts()[i].sent;
    }
    return std::move(result_);
  }

  const Task& without_thread() {
    plain_ = task_;
    plain_.training.overlap = false;
    return plain_;
  }

  /// Everything that any worker ever pushed is in this server's shards exactly once.
  void verify_shards() {
    const int servers = task_.training.arrangement.servers;
    const int shard = task_.rank - task_.training.workers();
    std::int64_t first = 0;
    for (const workload::Bucket& bucket : task_.training.buckets) {
      const std::int64_t begin = first + collective::chunk_begin(bucket.elements, servers, shard);
      const std::int64_t count = collective::chunk_elements(bucket.elements, servers, shard);
      result_.checked += count;
      result_.wrong += wrong_totals(std::span(payload_).subspan(static_cast<std::size_t>(begin),
                                                                static_cast<std::size_t>(count)),
                                    begin, task_.training.workers(), -task_.training.warmup,
                                    task_.training.steps);
      first += bucket.elements;
    }
  }

  /// Every rank for itself.
  LoopResult average_pairs(const std::function<void()>& leave) {
    if (task_.verify) fill(payload_, 0, task_.rank, 0);
    PairAverager averager(task_, payload_, connections_, log_);
    for (std::int64_t step = -task_.training.warmup; step < task_.training.steps; ++step) {
      told_(step);
      const std::int64_t begin = os::monotonic_ns();
      compute_.begin_step(begin);
      os::sleep_until(compute_.ready_ns(task_.training.compute.backward));
      averager.pull(step);
      sockets_.sample();
      log_.add({.step = step, .name = "step", .begin_ns = begin, .end_ns = os::monotonic_ns()});
      flush();
    }
    if (task_.verify) {
      result_.checked += task_.training.elements();
      result_.wrong += wrong_averages(payload_, 0, task_.training.arrangement.layout.ranks(), 0);
    }
    leave();
    averager.stop();
    result_.counts = averager.counts();
    return std::move(result_);
  }

  const Task& task_;
  Task plain_;
  Connections connections_;
  SideTalk side_;
  const Told& told_;
  std::vector<float> payload_;
  StepLog log_;
  SocketLog sockets_;
  workload::ComputeClock compute_;
  LoopResult result_;
};

/// One size: once with a check, then timed without.
BenchResult bench_row(const Task& all, const BenchRow& row, Connections connections, StepLog& log,
                      std::vector<WireCount>& counts) {
  Task task = all;
  task.training.buckets = {{.elements = row.elements}};
  std::vector<float> payload(static_cast<std::size_t>(row.elements));
  if (!task.is_server()) fill(payload, 0, task.rank, 0);
  BucketExchange exchange(task, payload, connections, log, {.patience = task.patience});
  exchange.exchange(0, 0);
  BenchResult result{.elements = row.elements};
  result.wrong = outcome_of(step_schedule(task.training), task.rank, payload, 0, 0).wrong;
  std::ranges::fill(payload, 0.0f);
  exchange.exchange(0, 0);
  const std::int64_t begin = os::monotonic_ns();
  const std::int64_t cpu_begin = os::process_cpu_ns();
  for (int i = 0; i < row.repeats; ++i) exchange.exchange(i, 0);
  result.cpu_ns = (os::process_cpu_ns() - cpu_begin) / row.repeats;
  result.time_ns = (os::monotonic_ns() - begin) / row.repeats;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i].sent += exchange.counts()[i].sent;
  }
  return result;
}

LoopResult run_bench(const Task& task, Connections connections, const Told& told,
                     const std::function<void()>& leave) {
  StepLog log("/dev/null");
  LoopResult result;
  result.counts.resize(connections.size());
  for (std::size_t i = 0; i < task.bench.size(); ++i) {
    told(static_cast<std::int64_t>(i));
    result.bench.push_back(bench_row(task, task.bench[i], connections, log, result.counts));
    result.checked += task.bench[i].elements;
    result.wrong += result.bench.back().wrong;
    log.flush();
  }
  leave();
  return result;
}

}  // namespace

int lanes_of(const Task& task) {
  return task.training.row().draws_peers ? 2 : task.training.connections;
}

std::vector<int> peers_of(const Task& task) {
  if (task.training.row().draws_peers) {
    std::vector<int> all(static_cast<std::size_t>(task.training.arrangement.layout.ranks()));
    std::iota(all.begin(), all.end(), 0);
    std::erase(all, task.rank);
    return all;
  }
  std::vector<int> peers = peers_of(step_schedule(task.training), task.rank);
  if (task.bench.empty() && !start_buckets(task.training).empty()) {
    const auto more = peers_of(start_schedule(task.training), task.rank);
    peers.insert(peers.end(), more.begin(), more.end());
    std::ranges::sort(peers);
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  }
  return peers;
}

RankConnections sorted_out(std::vector<transport::tcp::Connection> all) {
  RankConnections sorted;
  for (transport::tcp::Connection& connection : all) {
    auto& kind = connection.lane < kFirstSideLane ? sorted.gradient : sorted.side;
    kind.push_back(std::move(connection));
  }
  return sorted;
}

LoopResult run_loop(const Task& task, const RankConnections& connections, const Told& told,
                    const std::function<void()>& leave) {
  if (!task.bench.empty()) return run_bench(task, connections.gradient, told, leave);
  return Loop(task, connections, told).run(leave);
}

}  // namespace tw::trainer
