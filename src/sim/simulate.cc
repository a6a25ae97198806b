// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/simulate.h"

#include "trainwire/base/error.h"
#include "trainwire/sim/flow_network.h"
#include "trainwire/sim/packet_network.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

namespace tw::sim {
namespace {

constexpr std::int64_t kLookEvery = 1024;

enum class Event { Begin, Woke };

struct Due {
  Duration at = {};
  std::int64_t number = 0;  ///< of equal times the first made comes first
  Event event = Event::Woke;
  std::size_t job = 0;
  int rank = 0;

  bool operator>(const Due& other) const {
    return std::tie(at, number) > std::tie(other.at, other.number);
  }
};

class Simulation {
 public:
  Simulation(const spec::Experiment& experiment, Level level, const Watching& watching)
      : watching_(watching), medium_(medium(experiment, level)), cross_(experiment, *medium_) {
    result_.level = level;
    for (const spec::Job& job : experiment.jobs) {
      result_.jobs.push_back({.training = workload::training_of(experiment, job)});
    }
    for (std::size_t i = 0; i < result_.jobs.size(); ++i) add_player(i);
  }

  Simulated run() && {
    for (std::size_t i = 0; i < players_.size(); ++i) {
      add({.at = result_.jobs[i].training.start, .event = Event::Begin, .job = i});
    }
    while (!only_traffic_is_left() && advance() && goes_on()) {
    }
    if (!stopped_) check(all_done(), "nobody waits for what nobody sends");
    result_.traffic = cross_.end(now_);
    for (int port = 0; port < medium_->network().ports(); ++port) {
      result_.ports.push_back(medium_->figures(port));
    }
    result_.end = now_;
    return std::move(result_);
  }

 private:
  /// A message on its way.
  struct Travelling {
    std::size_t job = 0;
    play::Message message = {};
  };
  /// Of a job: two ranks, a kind of connection, and its number among those.
  using Pair = std::tuple<std::size_t, int, int, play::Kind, int>;

  std::unique_ptr<Medium> medium(const spec::Experiment& experiment, Level level) {
    Told told{.left = [this](Tag tag, Duration now) { left(tag, now); },
              .came = [this](Tag tag, Duration now) { came(tag, now); },
              .began = [this](Tag tag, Duration now) { began(tag, now); }};
    if (level == Level::Flow) {
      return std::make_unique<FlowNetwork>(experiment.network, std::move(told));
    }
    return std::make_unique<PacketNetwork>(experiment.network, *experiment.run.seed,
                                           std::move(told), watching_.seen);
  }

  void add_player(std::size_t job) {
    SimulatedJob& into = result_.jobs[job];
    players_.push_back(std::make_unique<play::Player>(
        into.training,
        play::Driver{
            .send = [this, job](const play::Message& message) { send(job, message); },
            .wake = [this, job](int rank,
                                Duration at) { add({.at = at, .job = job, .rank = rank}); },
            .follow = [this, job](const play::Message& message,
                                  std::span<const Tag> behind) { send_on(job, message, behind); },
            .moved = [&into](const play::Moved& row) { take(row, into); },
            .stepped = [&into](const play::Step& step) { into.steps.push_back(step); }}));
  }

  static void take(const play::Moved& row, SimulatedJob& into) {
    if (row.message.kind != play::Kind::Gradient) return;
    const auto found = into.exchanges.try_emplace({row.rank, row.message.step},
                                                  Exchange{.begin = row.at, .end = row.at});
    found.first->second.end = std::max(found.first->second.end, row.at);
  }

  bool all_done() const {
    return std::all_of(players_.begin(), players_.end(), [](const auto& p) { return p->done(); });
  }

  /// Cross traffic ends with the jobs.
  bool only_traffic_is_left() const { return !cross_.empty() && all_done(); }

  int host_of(std::size_t job, int rank) const {
    return result_.jobs[job].training.arrangement.layout.host(rank);
  }

  void add(Due due) {
    due.number = made_++;
    due_.push(std::move(due));
  }

  void send(std::size_t job, const play::Message& message) {
    const Tag tag = note(job, message);
    medium_->send(connection(job, message), message.bytes(), tag, now_);
  }

  void send_on(std::size_t job, const play::Message& message, std::span<const Tag> behind) {
    const Tag tag = note(job, message);
    medium_->send_on(connection(job, message), message.bytes(), tag, behind, now_);
  }

  /// Of a message that is sent now.
  Tag note(std::size_t job, const play::Message& message) {
    const auto& [from, to] = std::pair(message.transfer.from, message.transfer.to);
    ++result_.messages;
    result_.jobs[job].bytes[{from, to}] += message.bytes();
    if (message.kind == play::Kind::Gradient) {
      result_.jobs[job].gradients[{from, to}] += message.bytes();
      result_.jobs[job].exchanges.try_emplace({from, message.step},
                                              Exchange{.begin = now_, .end = now_});
      if (!cross_.empty()) pair_of(job, message).begin(message.bytes(), now_);
    }
    const std::size_t tag = take_place();
    travelling_[tag] = {.job = job, .message = message};
    return tag;
  }

  PairSending& pair_of(std::size_t job, const play::Message& message) {
    return result_.pairs[{host_of(job, message.transfer.from), host_of(job, message.transfer.to)}];
  }

  int connection(std::size_t job, const play::Message& message) {
    const collective::Transfer& transfer = message.transfer;
    const auto [found, is_new] =
        connections_.try_emplace({job, transfer.from, transfer.to, message.kind, message.lane});
    if (is_new) {
      found->second = medium_->connect(host_of(job, transfer.from), host_of(job, transfer.to));
    }
    return found->second;
  }

  std::size_t take_place() {
    if (free_.empty()) {
      free_.push_back(travelling_.size());
      travelling_.emplace_back();
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    return place;
  }

  void left(Tag tag, Duration now) {
    now_ = now;
    if ((tag & kCrossTag) != 0) return cross_.left(tag, now);
    const Travelling about = travelling_[tag];
    if (!cross_.empty() && about.message.kind == play::Kind::Gradient) {
      pair_of(about.job, about.message).end(now);
    }
    players_[about.job]->left(about.message, now);
  }

  void began(Tag tag, Duration now) {
    now_ = now;
    const Travelling about = travelling_[tag];
    players_[about.job]->began(about.message, tag, now);
  }

  void came(Tag tag, Duration now) {
    now_ = now;
    if ((tag & kCrossTag) != 0) return cross_.came(tag, now);
    const Travelling about = travelling_[tag];
    free_.push_back(tag);
    players_[about.job]->came(about.message, now);
  }

  /// To the next instant at which anything happens, and all of that; false when nothing does.
  bool advance() {
    const std::optional<Duration> travels = medium_->next();
    const std::optional<Duration> crosses = cross_.next();
    std::optional<Duration> next = travels;
    if (!due_.empty()) next = std::min(next.value_or(due_.top().at), due_.top().at);
    if (crosses) next = std::min(next.value_or(*crosses), *crosses);
    if (!next) return false;
    now_ = *next;
    if (travels && *travels <= now_) medium_->advance(now_);
    while (!due_.empty() && due_.top().at <= now_) {
      const Due due = due_.top();
      due_.pop();
      if (due.event == Event::Begin) players_[due.job]->begin();
      if (due.event == Event::Woke) players_[due.job]->woke(due.rank, now_);
    }
    if (crosses && *crosses <= now_) cross_.advance(now_);
    return true;
  }

  bool goes_on() {
    if (!watching_.goes_on || ++looks_ % kLookEvery != 0) return true;
    stopped_ = !watching_.goes_on(now_);
    return !stopped_;
  }

  const Watching& watching_;
  std::unique_ptr<Medium> medium_;
  CrossTraffic cross_;
  std::map<Pair, int> connections_;
  std::vector<std::unique_ptr<play::Player>> players_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<Travelling> travelling_;  ///< by tag
  std::vector<std::size_t> free_;
  Simulated result_;
  Duration now_ = {};
  std::int64_t made_ = 0;
  std::int64_t looks_ = 0;
  bool stopped_ = false;
};

}  // namespace

Simulated simulate(const spec::Experiment& experiment, Level level, const Watching& watching) {
  return Simulation(experiment, level, watching).run();
}

}  // namespace tw::sim
