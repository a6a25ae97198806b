// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/loop.h"

#include "trainwire/base/error.h"
#include "trainwire/learn/half.h"
#include "trainwire/os/clock.h"
#include "trainwire/trainer/async_server.h"
#include "trainwire/trainer/bench.h"
#include "trainwire/trainer/bucket_exchange.h"
#include "trainwire/trainer/gradients.h"
#include "trainwire/trainer/keep.h"
#include "trainwire/trainer/outcome.h"
#include "trainwire/trainer/pair_averager.h"
#include "trainwire/trainer/pair_bench.h"
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

class Loop {
 public:
  Loop(const Task& task, const RankConnections& connections, const LoopHooks& hooks, Memory& memory,
       const learn::DataSet* data)
      : task_(task),
        training_(task.training),
        connections_(connections.gradient),
        side_(connections.side, task.patience, hooks.look),
        hooks_(hooks),
        memory_(memory),
        payload_(memory.payload),
        log_(task.log),
        // What TCP says is known only of our own sockets.
        sockets_(task.carrier.empty() ? task.sockets : "", connections.gradient),
        transfers_(task.transfers),
        compute_(task.training, task.rank),
        schedule_(step_schedule(task.training)) {
    payload_.resize(static_cast<std::size_t>(task.training.elements()));
    memory_.next = task.first_step();
    if (!training_.learning) return;
    check(data != nullptr, "who learns has something to learn from");
    pupil_.emplace(task, *data, payload_);
    pupil_->take_kept(std::move(memory_.kept), task.first_step());
    pupil_->began(memory_.begin_ns);
  }

  LoopResult run() {
    const std::vector<Act> script = step_script(training_, task_.rank);
    prepare();
    for (std::int64_t i = task_.first_step() + training_.warmup;
         i < script_repeats(training_, task_.rank); ++i) {
      const std::int64_t step = i - training_.warmup;
      carry_out(script, step);
      flush();
      memory_.next = step + 1;
      memory_.has_model = true;
      if (pupil_ && task_.survival.waits) memory_.learnt = pupil_->state(memory_.next);
      checkpoint();
    }
    if (task_.verify) verify_all();
    if (pupil_) result_.learnt = pupil_->learnt();
    if (pupil_ && server_) result_.learnt->staleness = server_->staleness();
    hooks_.leave();
    if (averager_) averager_->stop();
    flush();
    count();
    return std::move(result_);
  }

  /// What would be lost with this group.
  void give_up() {
    if (averager_) averager_->stop();
    if (exchange_) exchange_->stop();
    memory_.sent += sent_bytes();
    memory_.checked += result_.checked;
    memory_.wrong += result_.wrong;
    if (pupil_) {
      memory_.kept = pupil_->give_kept();
      memory_.begin_ns = pupil_->begin_ns();
    }
    flush();
  }

 private:
  ExchangeOptions options() {
    const bool halves =
        training_.learning && training_.learning->precision == workload::Precision::Fp16;
    return {.patience = task_.patience,
            .tick =
                [this](std::int64_t) {
                  sockets_.sample();
                  if (hooks_.look) hooks_.look();
                },
            .transfers = task_.transfers.empty() ? nullptr : &transfers_,
            .add = halves ? learn::add_halves : add};
  }

  void flush() {
    log_.flush();
    sockets_.flush();
    transfers_.flush();
  }

  void sleep_until(std::int64_t monotonic_ns) const {
    if (hooks_.sleep_until) return hooks_.sleep_until(monotonic_ns);
    os::sleep_until(monotonic_ns);
  }

  /// Whatever comes before the first step.
  void prepare() {
    if (training_.row().draws_peers) {
      const bool restores = !task_.survival.restore.empty();
      if (restores) {
        restore();
      } else if (task_.verify && !memory_.has_model) {
        const Survival& survival = task_.survival;
        fill(payload_, 0, survival.identities > 0 ? survival.identity : task_.rank, kModel);
      }
      if (pupil_) restores || memory_.has_model ? pupil_->take_model() : pupil_->give_model();
      averager_.emplace(task_, payload_, connections_, log_, transfers_, hooks_.look);
      return;
    }
    exchange_.emplace(task_, payload_, connections_, log_, options());
    if (task_.survival.group > 0) {
      synchronise();
    } else if (!start_buckets(training_).empty()) {
      broadcast();
    }
  }

  /// Rank 0 has the model of the first step, in memory or in a checkpoint; in the end all have. A
  /// made-up job's parameters follow from the step, so that everybody can tell whether it came
  /// through. Where servers stand between workers, the others add nothing to it.
  void synchronise() {
    const std::int64_t step = task_.first_step();
    const std::int64_t before = sent_bytes();
    std::ranges::fill(payload_, 0.0f);
    if (task_.rank == 0) {
      if (!task_.survival.restore.empty()) {
        restore();
      } else if (!pupil_) {
        fill(payload_, 0, 0, step);
      } else {
        if (memory_.learnt) pupil_->restore(*memory_.learnt);
        pupil_->give_model();
      }
    }
    if (training_.row().first_model == collective::FirstModel::Broadcast) {
      exchange_->broadcast(step - 1);
    } else {
      for (int bucket = 0; bucket < static_cast<int>(training_.buckets.size()); ++bucket) {
        exchange_->begin(step - 1, bucket);
      }
      exchange_->wait();
    }
    if (pupil_ && !task_.is_server()) {
      pupil_->take_model();
      pupil_->begin_anew(step);
    } else if (!task_.is_server()) {
      result_.checked += training_.elements();
      result_.wrong += wrong_copies(payload_, 0, 0, step);
    }
    memory_.has_model = !task_.is_server();
    flush();
    if (hooks_.synchronised) hooks_.synchronised(sent_bytes() - before);
  }

  void restore() { trainer::restore(task_.survival, payload_); }

  /// Between two steps, when one is due.
  void checkpoint() {
    const std::int64_t step = memory_.next;
    if (!is_due(task_.survival, step, training_.steps)) return;
    const Saved saved =
        save(task_.survival, step, training_.arrangement.seed, [&] { return model_at(step); });
    if (hooks_.saved) hooks_.saved(saved);
  }

  std::vector<float> model_at(std::int64_t step) {
    if (averager_) return averager_->model();
    std::vector<float> model(payload_.size());
    if (pupil_) {
      // In the payload's form; between two steps nobody needs what it holds.
      pupil_->give_model();
      return {payload_.begin(), payload_.end()};
    }
    fill(model, 0, 0, step);
    return model;
  }

  std::int64_t sent_bytes() const {
    std::int64_t sum = 0;
    for (const WireCount& count : counted()) sum += count.sent;
    return sum;
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
    if (hooks_.told) hooks_.told(step);
    workload::Phase phase = workload::Phase::None;
    std::int64_t since = begin;
    for (const Act& act : script) {
      if (act.phase != phase) {
        const std::int64_t now = os::monotonic_ns();
        log_.add(phase, training_, {.step = step, .name = {}, .begin_ns = since, .end_ns = now});
        phase = act.phase;
        since = now;
      }
      carry_out(act, step);
    }
    const std::int64_t end = os::monotonic_ns();
    log_.add(phase, training_, {.step = step, .name = {}, .begin_ns = since, .end_ns = end});
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

  /// Real work takes its time; a slow host takes as much longer as it is slower. Where the experiment
  /// says how long computing takes, it takes that long at least.
  template <typename Work>
  void work(Work work, std::int64_t end_ns) {
    if (!pupil_) return sleep_until(end_ns);
    const std::int64_t begin = os::monotonic_ns();
    work();
    if (training_.learning->paced) return sleep_until(end_ns);
    const std::int64_t took = os::monotonic_ns() - begin;
    const double extra = training_.factor(task_.rank) - 1;
    if (extra > 0) sleep_until(begin + took + std::llround(extra * static_cast<double>(took)));
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

  /// An asynchronous worker gets what is there, and its server is checked at the end.
  void verify(std::int64_t step) {
    if (training_.asynchronous()) return;
    add_outcome(outcome_of_step(training_, schedule_, task_.rank, payload_, step));
  }

  void add_outcome(const Outcome& outcome) {
    result_.checked += outcome.checked;
    result_.wrong += outcome.wrong;
  }

  void serve() {
    // What workers push is added to nothing.
    std::ranges::fill(payload_, 0.0f);
    // Where models are real they are added to the first one.
    if (pupil_) pupil_->give_model();
    server_.emplace(task_, payload_, connections_, log_, options());
    server_->run([this](std::int64_t step) {
      transfers_.flush();
      if (hooks_.told) hooks_.told(step);
    });
  }

  /// What can be judged only when everything is done.
  void verify_all() {
    if (server_) add_outcome(outcome_of_shards(training_, task_.rank, payload_));
    if (!averager_) return;
    result_.checked += training_.elements();
    const int identities = task_.survival.identities;
    result_.wrong +=
        wrong_averages(payload_, 0, identities > 0 ? identities : training_.ranks(), kModel);
  }

  std::vector<WireCount> counted() const {
    if (averager_) return averager_->counts();
    if (!exchange_) return {};
    std::vector<WireCount> counts = exchange_->counts();
    for (std::size_t i = 0; server_ && i < counts.size(); ++i) {
      counts[i].sent += server_->counts()[i].sent;
    }
    return counts;
  }

  void count() {
    result_.counts = counted();
    result_.counts.insert(result_.counts.end(), side_.counts().begin(), side_.counts().end());
  }

  /// The first model is made like the gradients of step 0.
  static constexpr std::int64_t kModel = 0;

  const Task& task_;
  const workload::Training& training_;
  Connections connections_;
  SideTalk side_;
  const LoopHooks& hooks_;
  Memory& memory_;
  std::vector<float>& payload_;
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

}  // namespace

LoopResult run_loop(const Task& task, const RankConnections& connections, const LoopHooks& hooks,
                    Memory& memory, const learn::DataSet* data) {
  if (task.pairs) return run_pairs(task, connections, hooks);
  if (!task.bench.empty()) return run_bench(task, connections, hooks);
  Loop loop(task, connections, hooks, memory, data);
  try {
    return loop.run();
  } catch (...) {
    loop.give_up();
    throw;
  }
}

}  // namespace tw::trainer
