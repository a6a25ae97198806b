// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/simulate.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>

namespace tw::sim {
namespace {

constexpr std::int64_t kLookEvery = 1024;

enum class Event { Begin, Came, Woke };

struct Due {
  Duration at = {};
  std::int64_t number = 0;  ///< of equal times the first made comes first
  Event event = Event::Woke;
  std::size_t job = 0;
  int rank = 0;
  play::Message message = {};

  bool operator>(const Due& other) const {
    return std::tie(at, number) > std::tie(other.at, other.number);
  }
};

class Simulation {
 public:
  Simulation(const spec::Experiment& experiment, const Watching& watching)
      : watching_(watching), network_(experiment.network) {
    for (const spec::Job& job : experiment.jobs) {
      result_.jobs.push_back({.training = workload::training_of(experiment, job)});
    }
    for (std::size_t i = 0; i < result_.jobs.size(); ++i) add_player(i);
  }

  Simulated run() && {
    for (std::size_t i = 0; i < players_.size(); ++i) {
      add({.at = result_.jobs[i].training.start, .event = Event::Begin, .job = i});
    }
    while (advance() && goes_on()) {
    }
    if (!stopped_) {
      for (const auto& player : players_)
        check(player->done(), "nobody waits for what nobody sends");
    }
    for (int port = 0; port < network_.ports(); ++port) {
      result_.carried.push_back(network_.carried(port, now_));
    }
    result_.end = now_;
    return std::move(result_);
  }

 private:
  /// A message while it flows.
  struct Leaving {
    std::size_t job = 0;
    play::Message message = {};
  };

  void add_player(std::size_t job) {
    SimulatedJob& into = result_.jobs[job];
    players_.push_back(std::make_unique<play::Player>(
        into.training,
        play::Driver{
            .send = [this, job](const play::Message& message) { send(job, message); },
            .wake = [this, job](int rank,
                                Duration at) { add({.at = at, .job = job, .rank = rank}); },
            .moved = [&into](const play::Moved& row) { take(row, into); },
            .stepped = [&into](const play::Step& step) { into.steps.push_back(step); }}));
  }

  static void take(const play::Moved& row, SimulatedJob& into) {
    if (row.message.kind != play::Kind::Gradient) return;
    const auto found = into.exchanges.try_emplace({row.rank, row.message.step},
                                                  Exchange{.begin = row.at, .end = row.at});
    found.first->second.end = std::max(found.first->second.end, row.at);
  }

  int host_of(std::size_t job, int rank) const {
    return result_.jobs[job].training.arrangement.layout.host(rank);
  }

  void add(Due due) {
    due.number = made_++;
    due_.push(std::move(due));
  }

  void send(std::size_t job, const play::Message& message) {
    const auto& [from, to] = std::pair(message.transfer.from, message.transfer.to);
    ++result_.messages;
    result_.jobs[job].bytes[{from, to}] += message.bytes();
    if (message.kind == play::Kind::Gradient) {
      result_.jobs[job].gradients[{from, to}] += message.bytes();
      result_.jobs[job].exchanges.try_emplace({from, message.step},
                                              Exchange{.begin = now_, .end = now_});
    }
    const int flow = network_.send(host_of(job, from), host_of(job, to), message.bytes(), now_);
    leaving_.resize(std::max(leaving_.size(), static_cast<std::size_t>(flow) + 1));
    leaving_[static_cast<std::size_t>(flow)] = {.job = job, .message = message};
  }

  /// To the next instant at which anything happens, and all of that; false when nothing does.
  bool advance() {
    const std::optional<Duration> end = network_.next_end();
    if (!end && due_.empty()) return false;
    now_ = end && (due_.empty() || *end <= due_.top().at) ? *end : due_.top().at;
    while (const std::optional<int> flow = network_.ended(now_)) {
      const Leaving left = leaving_[static_cast<std::size_t>(*flow)];
      const collective::Transfer& transfer = left.message.transfer;
      const Duration way =
          network_.travelling(host_of(left.job, transfer.from), host_of(left.job, transfer.to));
      add({.at = now_ + way, .event = Event::Came, .job = left.job, .message = left.message});
      players_[left.job]->left(left.message, now_);
    }
    while (!due_.empty() && due_.top().at <= now_) {
      const Due due = due_.top();
      due_.pop();
      if (due.event == Event::Begin) players_[due.job]->begin();
      if (due.event == Event::Came) players_[due.job]->came(due.message, now_);
      if (due.event == Event::Woke) players_[due.job]->woke(due.rank, now_);
    }
    return true;
  }

  bool goes_on() {
    if (!watching_.goes_on || ++looks_ % kLookEvery != 0) return true;
    stopped_ = !watching_.goes_on(now_);
    return !stopped_;
  }

  const Watching& watching_;
  FlowNetwork network_;
  std::vector<std::unique_ptr<play::Player>> players_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<Leaving> leaving_;  ///< by flow
  Simulated result_;
  Duration now_ = {};
  std::int64_t made_ = 0;
  std::int64_t looks_ = 0;
  bool stopped_ = false;
};

}  // namespace

Simulated simulate(const spec::Experiment& experiment, const Watching& watching) {
  if (!experiment.traffic.empty()) {
    throw SpecError("traffic: cross traffic cannot be simulated; leave it out");
  }
  return Simulation(experiment, watching).run();
}

}  // namespace tw::sim
