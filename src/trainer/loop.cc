// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/loop.h"

#include "trainwire/base/error.h"
#include "trainwire/learn/half.h"
#include "trainwire/os/clock.h"
#include "trainwire/trainer/async_server.h"
#include "trainwire/trainer/bucket_exchange.h"
#include "trainwire/trainer/gradients.h"
#include "trainwire/trainer/outcome.h"
#include "trainwire/trainer/pair_averager.h"
#include "trainwire/trainer/pupil.h"
#include "trainwire/trainer/side_talk.h"
#include "trainwire/trainer/socket_log.h"
#include "trainwire/workload/compute_clock.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tw::trainer {
namespace {

using workload::Act;
using workload::What;
using Connections = std::span<const transport::tcp::Connection>;
using Told = std::function<void(std::int64_t)>;

class Loop {
 public:
  Loop(const Task& task, const RankConnections& connections, const Told& told,
       const learn::DataSet* data)
      : task_(task),
        training_(task.training),
        connections_(connections.gradient),
        side_(connections.side, task.patience),
        told_(told),
        payload_(static_cast<std::size_t>(task.training.elements())),
        log_(task.log),
        sockets_(task.sockets, connections.gradient),
        transfers_(task.transfers),
        compute_(task.training, task.rank),
        schedule_(step_schedule(task.training)) {
    if (!training_.learning) return;
    check(data != nullptr, "who learns has something to learn from");
    pupil_.emplace(task, *data, payload_);
  }

  LoopResult run(const std::function<void()>& leave) && {
    const std::vector<Act> script = step_script(training_, task_.rank);
    prepare();
    for (std::int64_t i = 0; i < script_repeats(training_, task_.rank); ++i) {
      carry_out(script, i - training_.warmup);
      flush();
    }
    if (task_.verify) verify_all();
    if (pupil_) tell_learnt();
    leave();
    if (averager_) averager_->stop();
    flush();
    count();
    return std::move(result_);
  }

 private:
  ExchangeOptions options() {
    return {.patience = task_.patience,
            .tick = [this](std::int64_t) { sockets_.sample(); },
            .transfers = task_.transfers.empty() ? nullptr : &transfers_,
            .add = sums_halves() ? learn::add_halves : add};
  }

  bool sums_halves() const {
    return training_.learning && training_.learning->precision == workload::Precision::Fp16;
  }

  void flush() {
    log_.flush();
    sockets_.flush();
    transfers_.flush();
  }

  /// Whatever comes before the first step.
  void prepare() {
    if (training_.row().draws_peers) {
      if (task_.verify) fill(payload_, 0, task_.rank, kModel);
      if (pupil_) pupil_->give_model();
      averager_.emplace(task_, payload_, connections_, log_, transfers_);
      return;
    }
    exchange_.emplace(task_, payload_, connections_, log_, options());
    if (!start_buckets(training_).empty()) broadcast();
  }

  void broadcast() {
    const bool holds_it = training_.row().has_servers ? task_.is_server() : task_.rank == 0;
    if (task_.verify && holds_it) fill(payload_, 0, 0, kModel);
    if (pupil_ && holds_it) pupil_->give_model();
    exchange_->broadcast(-training_.warmup - 1);
    if (pupil_ && !task_.is_server()) pupil_->take_model();
    if (task_.verify && !task_.is_server()) {
      result_.checked += training_.elements();
      result_.wrong += wrong_copies(payload_, 0, 0, kModel);
    }
    flush();
  }

  void carry_out(const std::vector<Act>& script, std::int64_t step) {
    const std::int64_t begin = os::monotonic_ns();
    compute_.begin_step(begin);
    if (script.front().what == What::Serve) return serve();
    told_(step);
    workload::Phase phase = workload::Phase::None;
    std::int64_t since = begin;
    for (const Act& act : script) {
      if (act.phase != phase) {
        const std::int64_t now = os::monotonic_ns();
        log_phase(phase, step, since, now);
        phase = act.phase;
        since = now;
      }
      carry_out(act, step);
    }
    const std::int64_t end = os::monotonic_ns();
    log_phase(phase, step, since, end);
    log_.add({.step = step, .name = "step", .begin_ns = begin, .end_ns = end});
    if (pupil_ && !task_.is_server()) pupil_->look(step);
  }

  void carry_out(const Act& act, std::int64_t step) {
    switch (act.what) {
      case What::Forward:
        return forward(step);
      case What::Backward:
        return backward(step, act.bucket);
      case What::Agree:
        return side_.talk();
      case What::Begin:
        return exchange_->begin(step, act.bucket);
      case What::Await:
        return exchange_->wait();
      case What::Update:
        return update(step);
      case What::Pull:
        return pull(step);
      case What::Need:
        check(false, "forward that overlaps is played alone");
        return;
      case What::Serve:
        check(false, "who serves does nothing else");
    }
  }

  /// Phases that take no time by the training's own terms are not told.
  void log_phase(workload::Phase phase, std::int64_t step, std::int64_t begin, std::int64_t end) {
    const bool computes = training_.compute.backward.count() > 0;
    const auto add = [&](std::string_view name) {
      log_.add({.step = step, .name = name, .begin_ns = begin, .end_ns = end});
    };
    if (phase == workload::Phase::Forward && training_.compute.forward.count() > 0) add("forward");
    if (phase == workload::Phase::Backward && computes) add("backward");
    if (phase == workload::Phase::Wait) add("wait");
    if (phase == workload::Phase::Update && computes) add("optimiser");
  }

  /// Real work takes its time; a slow host takes as much longer as it is slower. Where the experiment
  /// says how long computing takes, it takes that long at least.
  template <typename Work>
  void work(Work work, std::int64_t end_ns) {
    if (!pupil_) return os::sleep_until(end_ns);
    const std::int64_t begin = os::monotonic_ns();
    work();
    if (training_.learning->paced) return os::sleep_until(end_ns);
    const std::int64_t took = os::monotonic_ns() - begin;
    const double extra = training_.factor(task_.rank) - 1;
    if (extra > 0) os::sleep_until(begin + took + std::llround(extra * static_cast<double>(took)));
  }

  void forward(std::int64_t step) {
    work([&] { pupil_->forward(step); }, compute_.forward_end_ns());
  }

  void backward(std::int64_t step, int bucket) {
    if (bucket == workload::kWholePayload) {
      return work([&] { learn_alone(step); }, compute_.ready_ns(training_.compute.backward));
    }
    work([&] { pupil_->backward(step, bucket); },
         compute_.ready_ns(training_.buckets[static_cast<std::size_t>(bucket)].ready));
    if (!task_.verify) return;
    fill(exchange_->elements(bucket), exchange_->first_element(bucket), task_.rank, step);
  }

  void learn_alone(std::int64_t step) {
    pupil_->learn_alone(step);
    if (averager_) averager_->change([this] { pupil_->give_model(); });
  }

  void pull(std::int64_t step) {
    averager_->pull(step);
    if (pupil_) pupil_->take_model();
    sockets_.sample();
  }

  /// Sums become means, which is all that is left of an optimiser without parameters.
  void update(std::int64_t step) {
    if (task_.verify) verify(step);
    if (pupil_) return pupil_->update(step);
    if (training_.compute.backward.count() == 0) return;
    const float share = 1.0f / static_cast<float>(std::max(training_.workers(), 1));
    for (float& element : payload_) element *= share;
  }

  /// A server of a synchronous job holds its shards only, which its workers get and check; an
  /// asynchronous worker gets what is there, and its server is checked at the end.
  void verify(std::int64_t step) {
    if (training_.asynchronous()) return;
    for (int bucket = 0; bucket < static_cast<int>(training_.buckets.size()); ++bucket) {
      const Outcome outcome = outcome_of(schedule_, task_.rank, exchange_->elements(bucket),
                                         exchange_->first_element(bucket), step);
      result_.checked += outcome.checked;
      result_.wrong += outcome.wrong;
    }
  }

  void serve() {
    // What workers push is added to nothing.
    std::ranges::fill(payload_, 0.0f);
    // Where models are real they are added to the first one.
    if (pupil_) pupil_->give_model();
    server_.emplace(task_, payload_, connections_, log_, options());
    server_->run([this](std::int64_t step) {
      transfers_.flush();
      told_(step);
    });
  }

  void tell_learnt() {
    result_.learnt = pupil_->learnt();
    if (!server_) return;
    result_.learnt->pushes = server_->staleness().pushes;
    result_.learnt->stale_sum = server_->staleness().sum;
    result_.learnt->stale_most = server_->staleness().most;
  }

  /// What can be judged only when everything is done.
  void verify_all() {
    if (server_) verify_shards();
    if (!averager_) return;
    result_.checked += training_.elements();
    result_.wrong += wrong_averages(payload_, 0, training_.ranks(), kModel);
  }

  /// Everything that any worker ever pushed is in this server's shards exactly once.
  void verify_shards() {
    const int servers = training_.arrangement.servers;
    const int shard = task_.rank - training_.workers();
    for (int bucket = 0; bucket < static_cast<int>(training_.buckets.size()); ++bucket) {
      const workload::Range range = training_.range(bucket);
      const std::int64_t begin =
          range.first + collective::chunk_begin(range.elements, servers, shard);
      const std::int64_t count = collective::chunk_elements(range.elements, servers, shard);
      result_.checked += count;
      result_.wrong += wrong_totals(std::span(payload_).subspan(static_cast<std::size_t>(begin),
                                                                static_cast<std::size_t>(count)),
                                    begin, training_.workers(), -training_.warmup, training_.steps);
    }
  }

  void count() {
    result_.counts = averager_ ? averager_->counts() : exchange_->counts();
    for (std::size_t i = 0; server_ && i < result_.counts.size(); ++i) {
      result_.counts[i].sent += server_->counts()[i].sent;
    }
    result_.counts.insert(result_.counts.end(), side_.counts().begin(), side_.counts().end());
  }

  /// The first model is made like the gradients of step 0.
  static constexpr std::int64_t kModel = 0;

  const Task& task_;
  const workload::Training& training_;
  Connections connections_;
  SideTalk side_;
  const Told& told_;
  std::vector<float> payload_;
  StepLog log_;
  SocketLog sockets_;
  TransferLog transfers_;
  workload::ComputeClock compute_;
  collective::Schedule schedule_;
  LoopResult result_;
  std::optional<Pupil> pupil_;
  std::optional<BucketExchange> exchange_;
  std::optional<PairAverager> averager_;
  std::optional<AsyncServer> server_;
};

/// One size: once with a check, then timed without.
BenchResult bench_row(const Task& all, const BenchRow& row, Connections connections, StepLog& log,
                      std::vector<WireCount>& counts) {
  Task task = all;
  task.training.buckets = {{.elements = row.elements}};
  std::vector<float> payload(static_cast<std::size_t>(row.elements));
  if (!task.is_server()) fill(payload, 0, task.rank, 0);
  BucketExchange exchange(task, payload, connections, log, {.patience = task.patience});
  exchange.begin(0, 0);
  BenchResult result{.elements = row.elements};
  result.wrong = outcome_of(step_schedule(task.training), task.rank, payload, 0, 0).wrong;
  std::ranges::fill(payload, 0.0f);
  exchange.begin(0, 0);
  const std::int64_t begin = os::monotonic_ns();
  const std::int64_t cpu_begin = os::process_cpu_ns();
  for (int i = 0; i < row.repeats; ++i) exchange.begin(i, 0);
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

RankConnections sorted_out(std::vector<transport::tcp::Connection> all) {
  RankConnections sorted;
  for (transport::tcp::Connection& connection : all) {
    auto& kind = connection.lane < kFirstSideLane ? sorted.gradient : sorted.side;
    kind.push_back(std::move(connection));
  }
  return sorted;
}

LoopResult run_loop(const Task& task, const RankConnections& connections, const Told& told,
                    const std::function<void()>& leave, const learn::DataSet* data) {
  if (!task.bench.empty()) return run_bench(task, connections.gradient, told, leave);
  return Loop(task, connections, told, data).run(leave);
}

}  // namespace tw::trainer
