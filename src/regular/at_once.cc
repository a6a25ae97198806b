// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/at_once.h"

#include "trainwire/fluid/sharing.h"
#include "trainwire/regular/crew.h"
#include "trainwire/regular/due_times.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

namespace tw::regular {
namespace {

using workload::Training;

constexpr std::int64_t kLookEvery = 1024;

std::vector<double> capacities_of(const Physics& physics) {
  std::vector<double> all;
  for (int port = 0; port < physics.ports; ++port) all.push_back(physics.capacity(port));
  return all;
}

/// All jobs on one network.
class Stage {
 public:
  Stage(const std::vector<const Training*>& jobs, std::vector<Tasks> tasks, const Physics& physics)
      : physics_(physics), sharing_(capacities_of(physics)) {
    answer_.port_bytes.resize(static_cast<std::size_t>(physics.ports));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      crews_.push_back(std::make_unique<Crew>(
          *jobs[i], std::move(tasks[i]),
          Crew::Asks{.send = [this, i](const Errand& errand) { send(i, errand); },
                     .wake = [this, i](int rank, Duration at) { add_wake(i, rank, at); }}));
    }
  }

  /// False: it was stopped.
  bool run(const std::function<bool(Duration)>& goes_on) {
    for (std::size_t i = 0; i < crews_.size(); ++i) add_wake(i, kEverybody, crews_[i]->start());
    for (std::int64_t looks = 1; !due_.empty() || !wakes_.empty(); ++looks) {
      now_ = due_.empty() ? wakes_.top().at : due_.next_time();
      if (!wakes_.empty()) now_ = std::min(now_, wakes_.top().at);
      while (happens()) {
      }
      share();
      if (goes_on && looks % kLookEvery == 0 && !goes_on(now_)) return false;
    }
    return true;
  }

  Answer answer() && {
    for (const auto& crew : crews_) {
      answer_.jobs.push_back(std::move(*crew).answer());
      answer_.end = std::max(answer_.end, answer_.jobs.back().times.end);
    }
    return std::move(answer_);
  }

 private:
  static constexpr int kEverybody = -1;

  struct Wake {
    Duration at = {};
    std::size_t job = 0;
    int rank = 0;

    bool operator>(const Wake& other) const {
      return std::tie(at, job, rank) > std::tie(other.at, other.job, other.rank);
    }
  };
  /// On its way.
  struct Message {
    Errand errand = {};
    std::uint32_t job = 0;
    bool has_left = false;
    int share = -1;   ///< its number in sharing_
    double left = 0;  ///< bytes, at `since`
    double rate = 0;
    Duration since = {};
    Duration travelling = {};
  };

  void add_wake(std::size_t job, int rank, Duration at) {
    wakes_.push({.at = at, .job = job, .rank = rank});
  }

  void send(std::size_t job, const Errand& errand) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(messages_.size()));
      messages_.emplace_back();
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    const Line line = crews_[job]->line(physics_, errand);
    for (const int port : line.ports) sharing_.prefetch_link(port);
    Message& message = messages_[number];
    message = {.errand = errand,
               .job = static_cast<std::uint32_t>(job),
               .left = static_cast<double>(errand.bytes),
               .since = now_,
               .travelling = line.travelling};
    if (line.ports.empty()) {
      due_.set(number, now_);
      return;
    }
    for (const int port : line.ports) {
      answer_.port_bytes[static_cast<std::size_t>(port)] += message.left;
    }
    message.share = sharing_.add(line.ports);
    const auto place = static_cast<std::size_t>(message.share);
    of_share_.resize(std::max(of_share_.size(), place + 1));
    of_share_[place] = number;
  }

  /// The next thing that happens now, if any does.
  bool happens() {
    if (!due_.empty() && due_.next_time() == now_) {
      const std::uint32_t number = due_.next();
      messages_[number].has_left ? come(number) : leave(number);
      return true;
    }
    if (wakes_.empty() || wakes_.top().at != now_) return false;
    const Wake wake = wakes_.top();
    wakes_.pop();
    Crew& crew = *crews_[wake.job];
    wake.rank == kEverybody ? crew.begin() : crew.woke(wake.rank, now_);
    return true;
  }

  void leave(std::uint32_t number) {
    Message& message = messages_[number];
    if (message.share >= 0) sharing_.remove(std::exchange(message.share, -1));
    message.has_left = true;
    due_.set(number, now_ + message.travelling);
    crews_[message.job]->left(Errand(message.errand), now_);
  }

  void come(std::uint32_t number) {
    due_.pop();
    free_.push_back(number);
    const Message& message = messages_[number];
    crews_[message.job]->came(Errand(message.errand), now_);
  }

  /// Rates for what has begun and ended at this instant.
  void share() {
    for (const int share : sharing_.solve()) {
      const std::uint32_t number = of_share_[static_cast<std::size_t>(share)];
      Message& message = messages_[number];
      message.left -= std::min(message.left, message.rate * seconds(now_ - message.since));
      message.since = now_;
      message.rate = sharing_.rate(share);
      due_.set(number, now_ + physics_.leaving(message.left, message.rate));
    }
  }

  const Physics& physics_;
  fluid::Sharing sharing_;
  std::vector<std::unique_ptr<Crew>> crews_ = {};
  std::vector<Message> messages_ = {};
  std::vector<std::uint32_t> free_ = {};
  std::vector<std::uint32_t> of_share_ = {};  ///< message by number in sharing_
  DueTimes due_ = {};                         ///< when messages have left, or come
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> wakes_ = {};
  Duration now_ = {};
  Answer answer_ = {};
};

}  // namespace

Outcome answer_at_once(const std::vector<const Training*>& jobs, const Physics& physics,
                       const std::function<bool(Duration)>& goes_on) {
  std::vector<Tasks> tasks;
  for (const Training* training : jobs) {
    const auto because = [&](const std::string& reason) {
      return Outcome{.reason = training->name + ": " + reason};
    };
    const std::string more = asks_for_players(*training);
    if (!more.empty()) return because(more);
    std::optional<Tasks> made = Tasks::of(step_schedule(*training));
    if (!made) return because("a rank takes part in too many transfers");
    tasks.push_back(std::move(*made));
  }
  Stage stage(jobs, std::move(tasks), physics);
  Outcome outcome{.answered = stage.run(goes_on)};
  if (outcome.answered) outcome.answer = std::move(stage).answer();
  return outcome;
}

}  // namespace tw::regular
