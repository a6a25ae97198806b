// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recover/job_talk.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/recover/culprits.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tw::recover {
namespace {

using nlohmann::json;
using spec::OnFailure;
using std::chrono::seconds;

/// Who is asked to stop has to answer within the job's patience, but no sooner and no later.
constexpr Duration kLeastGrace = seconds(1);
constexpr Duration kMostGrace = seconds(5);
/// A visitor whose process ends is tried again, but not all the time.
constexpr Duration kVisitAgain = seconds(1);
constexpr int kMostBarren = 5;

std::int64_t after(Duration time) { return os::monotonic_ns() + time.count(); }

}  // namespace

JobTalk::JobTalk(std::vector<trainer::Task> tasks, std::vector<std::string> labels, Policy policy)
    : tasks_(std::move(tasks)), labels_(std::move(labels)), policy_(policy), seats_(tasks_.size()) {
  group_.training = tasks_.front().training;
  begun_ = tasks_.front().first_step();
  for (int rank = 0; rank < ranks(); ++rank) group_.members.push_back(rank);
  for (int rank = 0; rank < ranks(); ++rank) {
    auto [ours, theirs] = transport::make_control_sockets();
    seat(rank).control.emplace(std::move(ours));
    seat(rank).other_end = std::move(theirs);
    seat(rank).next = begun_;
    given_.push_back(task_for(rank));
    seat(rank).control->send(to_json(given_.back()));
  }
}

void JobTalk::attend(const Take& take) {
  for (int rank = 0; rank < ranks(); ++rank) {
    seat(rank).other_end = {};
    listen(rank, take);
  }
  advance();
}

void JobTalk::listen(int rank, const Take& take) {
  while (seat(rank).control) {
    const auto message = seat(rank).control->poll();
    if (!message) return;
    this->take(rank, *message);
    take(rank, *message);
  }
}

void JobTalk::take(int rank, const json& message) {
  Seat& of = seat(rank);
  if (message.contains("step")) of.next = std::max(of.next, message.at("step").get<std::int64_t>());
  if (message.contains("fault")) forget_fault(message.at("fault").get<int>());
  if (message.contains("here")) of.here = true;
  if (message.contains("synchronised") && !recoveries_.empty()) {
    recoveries_.back().bytes += message.at("synchronised").get<std::int64_t>();
  }
  if (message.contains("saved")) {
    const auto problem = message.at("problem").get<std::string>();
    (problem.empty() ? kept_.written : kept_.failed) += 1;
    if (problem.empty()) kept_.bytes = message.at("bytes").get<std::int64_t>();
    if (kept_.problem.empty()) kept_.problem = problem;
    kept_.longest_ns = std::max(kept_.longest_ns, message.at("time_ns").get<std::int64_t>());
  }
  if (message.contains("lost") && of.there) {
    const auto time = message.at("time_ns").get<std::int64_t>();
    const bool silent = message.at("silent").get<bool>();
    const std::string notice = silent ? "silence" : "closed connection";
    if (stage_ == Stage::Halting && !recoveries_.empty()) {
      Recovery& last = recoveries_.back();
      if (time < last.noticed_ns) std::tie(last.noticed_ns, last.notice) = std::pair(time, notice);
      return;
    }
    const auto why = message.at("lost").get<std::string>();
    if (!started_) return fail(fmt::format("{}: {}", labels_[static_cast<std::size_t>(rank)], why));
    return halt({.what = fmt::format("{}: {}", labels_[static_cast<std::size_t>(rank)], why),
                 .notice = notice,
                 .noticed_ns = time});
  }
  if (stage_ == Stage::Halting) {
    if (!message.contains("halted")) return;
    of.halted = true;
    of.next = message.at("halted").get<std::int64_t>();
    of.has_model = message.at("has_model").get<bool>();
    message.at("cuts").get_to(of.cuts);
    return;
  }
  if (message.contains("port") && message.at("group").get<int>() == number_) {
    message.at("port").get_to(of.port);
    of.carrier = message.value("carrier", json());
  }
  if (message.contains("ready")) of.ready = true;
  if (message.contains("done")) of.done = true;
}

void JobTalk::advance() {
  if (failure_ || left_) return;
  const auto everybody = [this](auto property) {
    return std::ranges::all_of(group_.members, [&](int rank) { return property(seat(rank)); });
  };
  switch (stage_) {
    case Stage::Forming:
      if (!introduced_) connect();
      if (started_ && everybody([](const Seat& s) { return s.ready; })) go();
      return;
    case Stage::Training:
      if (everybody([](const Seat& s) { return s.done; })) return dismiss();
      for (int rank = 0; rank < ranks(); ++rank) {
        if (!seat(rank).here) continue;
        return halt({.what = fmt::format("{} is back", labels_[static_cast<std::size_t>(rank)]),
                     .notice = "return",
                     .noticed_ns = os::monotonic_ns()});
      }
      return;
    case Stage::Halting:
      if (everybody([](const Seat& s) { return !s.there || s.halted; }) ||
          os::monotonic_ns() > deadline_ns_) {
        decide();
      }
      return;
    case Stage::Waiting:
      for (Seat& one : seats_) {
        if (std::exchange(one.visits, false)) one.there = true;
      }
      if (std::ranges::none_of(seats_, [](const Seat& s) { return s.start_ns.has_value(); }))
        form();
  }
}

/// Once all ranks listen, each is told where.
void JobTalk::connect() {
  json endpoints = json::array();
  for (const int rank : group_.members) {
    if (seat(rank).port == 0) return;
    endpoints.push_back(
        {tasks_[static_cast<std::size_t>(rank)].address, seat(rank).port, seat(rank).carrier});
  }
  for (const int rank : group_.members) seat(rank).control->send({{"endpoints", endpoints}});
  introduced_ = true;
}

bool JobTalk::ready() const {
  return std::ranges::all_of(group_.members, [this](int rank) { return seat(rank).ready; });
}

bool JobTalk::awaits() const {
  return !failure_ && !left_ &&
         std::ranges::any_of(seats_, [](const Seat& one) { return one.start_ns.has_value(); });
}

void JobTalk::go() {
  for (const int rank : group_.members) seat(rank).control->send({{"go", true}});
  stage_ = Stage::Training;
  started_ = true;
  if (!recoveries_.empty()) recoveries_.back().again_ns = os::monotonic_ns();
}

/// Nobody leaves before all have done their work: others may still be receiving.
void JobTalk::dismiss() {
  for (Seat& one : seats_) {
    one.start_ns.reset();
    if (one.control) one.control->send({{"leave", true}});
  }
  left_ = true;
}

std::int64_t JobTalk::furthest() const {
  std::int64_t most = begun_;
  for (const Seat& one : seats_) most = std::max(most, one.next);
  return most;
}

void JobTalk::forget_fault(int fault) {
  for (trainer::Task& task : tasks_) {
    std::erase_if(task.survival.signals,
                  [&](const trainer::OwnSignal& own) { return own.fault == fault; });
  }
}

bool JobTalk::survives(int rank, const std::string& what) {
  if (!policy_.survives() || !started_ || left_ || failure_) return false;
  Seat& of = seat(rank);
  of.to_kill = false;
  of.control.reset();
  if (of.visits) {
    of.visits = of.here = false;
    of.start_ns = after(std::max(policy_.restart_after, kVisitAgain));
  }
  if (!of.there) return true;
  if (stage_ == Stage::Training || stage_ == Stage::Forming) {
    halt({.notice = "end of the process", .noticed_ns = os::monotonic_ns()});
  }
  drop(rank, what);
  if (stage_ == Stage::Waiting) of.start_ns = after(policy_.restart_after);
  return true;
}

/// Everybody stops; a group that has not trained yet is part of the same recovery.
void JobTalk::halt(Recovery why) {
  stage_ = Stage::Halting;
  deadline_ns_ = after(std::clamp(policy_.timeout, kLeastGrace, kMostGrace));
  if (recoveries_.empty() || recoveries_.back().again_ns != 0) {
    recoveries_.push_back(std::move(why));
  }
  for (const int rank : group_.members) {
    Seat& of = seat(rank);
    of.halted = false;
    of.cuts.clear();
    if (of.there && of.control) of.control->send({{"halt", true}});
  }
}

void JobTalk::drop(int rank, const std::string& what) {
  Seat& of = seat(rank);
  of.there = of.has_model = false;
  Recovery& last = recoveries_.back();
  // The cause before what others noticed of it.
  last.what = last.lost.empty() ? what : fmt::format("{}; {}", last.what, what);
  last.lost.push_back(rank);
}

void JobTalk::drop_silent() {
  for (const int rank : group_.members) {
    Seat& of = seat(rank);
    if (!of.there || of.halted) continue;
    drop(rank, fmt::format("{} was silent for {}", labels_[static_cast<std::size_t>(rank)],
                           readable(policy_.timeout)));
    of.to_kill = true;
    of.control.reset();
  }
}

void JobTalk::drop_cut() {
  std::vector<Cut> cuts;
  for (const int rank : group_.members) {
    for (const int other : seat(rank).cuts) {
      cuts.emplace_back(rank, group_.members[static_cast<std::size_t>(other)]);
    }
  }
  for (const int rank : culprits(cuts)) {
    drop(rank, fmt::format("{} could not be reached", labels_[static_cast<std::size_t>(rank)]));
    seat(rank).to_kill = true;
    seat(rank).control.reset();
  }
}

/// All have answered, or will not.
void JobTalk::decide() {
  drop_silent();
  if (recoveries_.back().lost.empty()) drop_cut();
  if (policy_.on_failure != OnFailure::Shrink) send_back();
  if (policy_.on_failure == OnFailure::Restart) {
    stage_ = Stage::Waiting;
    return;
  }
  for (Seat& one : seats_) {
    if (one.visits && one.here) {
      one.there = true;
      one.visits = one.here = false;
    }
  }
  const bool can_wait = policy_.on_failure == OnFailure::Grow;
  if (can_wait && !regroup_problem(tasks_.front().training, there()).empty()) {
    stage_ = Stage::Waiting;
  } else {
    form();
  }
}

void JobTalk::send_back() {
  for (Seat& one : seats_) {
    if (!one.there && !one.visits && !one.start_ns) one.start_ns = after(policy_.restart_after);
  }
}

void JobTalk::steer(const Hands& hands) {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (std::exchange(seat(rank).to_kill, false)) hands.kill(rank);
  }
  if (!failure_ && !left_) start_due(hands);
}

void JobTalk::start_due(const Hands& hands) {
  for (int rank = 0; rank < ranks(); ++rank) {
    Seat& of = seat(rank);
    if (!of.start_ns || os::monotonic_ns() < *of.start_ns) continue;
    if (stage_ == Stage::Halting || stage_ == Stage::Forming) continue;
    auto [ours, theirs] = transport::make_control_sockets();
    of = {.control = transport::Control(std::move(ours)), .there = false};
    of.next = begun_;
    hands.start(rank, theirs);
    if (stage_ == Stage::Waiting) {
      of.there = true;
      continue;
    }
    of.visits = true;
    const int host = group_.members.front();
    of.control->send({{"visit",
                       {{"address", tasks_[static_cast<std::size_t>(host)].address},
                        {"port", seat(host).port},
                        {"from", tasks_[static_cast<std::size_t>(rank)].address}}}});
  }
}

std::vector<bool> JobTalk::there() const {
  std::vector<bool> all;
  for (const Seat& one : seats_) all.push_back(one.there);
  return all;
}

checkpoint::Store JobTalk::store_of(int rank) const {
  const trainer::Survival& survival = tasks_[static_cast<std::size_t>(rank)].survival;
  return {.folder = survival.checkpoint_folder, .name = survival.checkpoint_name};
}

/// The last checkpoint of a rank that is whole.
std::optional<checkpoint::Found> JobTalk::checkpoint_of(int rank) {
  if (tasks_[static_cast<std::size_t>(rank)].survival.checkpoint_every == 0) return {};
  std::vector<std::string> problems;
  auto found = checkpoint::latest(store_of(rank), problems);
  if (!problems.empty()) kept_.problem = problems.front();
  return found;
}

void JobTalk::form() {
  const workload::Training& whole = tasks_.front().training;
  if (const std::string problem = regroup_problem(whole, there()); !problem.empty()) {
    return fail(fmt::format("{}: {}", recoveries_.back().what, problem));
  }
  const std::int64_t reached = furthest();
  barren_ = reached > begun_ ? 0 : barren_ + 1;
  if (barren_ > kMostBarren) {
    return fail(fmt::format("{}: no step was finished in {} attempts to go on",
                            recoveries_.back().what, kMostBarren));
  }
  const Start start = whole.row().draws_peers ? own_start() : common_start();
  group_ = regroup(whole, there(), start.first);
  begun_ = start.step;
  ++number_;
  introduced_ = false;
  stage_ = Stage::Forming;
  Recovery& last = recoveries_.back();
  last.step = begun_;
  last.lost_steps = std::max<std::int64_t>(0, reached - begun_);
  last.from_checkpoint = start.from_checkpoint;
  last.ranks = group_.size();
  const transport::tcp::Token token = transport::tcp::make_token();
  for (const int rank : group_.members) {
    Seat& of = seat(rank);
    of.ready = of.done = of.halted = false;
    of.port = 0;
    trainer::Task task = task_for(rank);
    task.token = token;
    task.survival.begin =
        start.steps.empty() ? begun_ : start.steps[static_cast<std::size_t>(rank)];
    task.survival.restore = start.restores[static_cast<std::size_t>(rank)];
    of.next = *task.survival.begin;
    of.control->send(to_json(task));
    given_.push_back(std::move(task));
  }
}

/// One model for all: of the worker that has come furthest, or of the last checkpoint.
JobTalk::Start JobTalk::common_start() {
  Start start{.restores = std::vector<std::string>(seats_.size())};
  int best = -1;
  int lowest = -1;
  for (int rank = tasks_.front().training.workers() - 1; rank >= 0; --rank) {
    const Seat& of = seat(rank);
    if (!of.there) continue;
    lowest = rank;
    if (of.has_model && (best < 0 || of.next >= seat(best).next)) best = rank;
  }
  if (best >= 0 && policy_.on_failure != OnFailure::Restart) {
    start.first = best;
    start.step = seat(best).next;
    return start;
  }
  // All go back: the lowest worker reads where to.
  start.first = lowest;
  start.step = tasks_.front().first_step();
  if (const auto found = checkpoint_of(0)) {
    start.step = found->step;
    start.restores[static_cast<std::size_t>(lowest)] = found->path;
    start.from_checkpoint = true;
  }
  return start;
}

/// Each has a model of its own; who comes new has its checkpoint, or begins beside the last.
JobTalk::Start JobTalk::own_start() {
  Start start{.restores = std::vector<std::string>(seats_.size())};
  std::int64_t last = tasks_.front().training.steps;
  for (const Seat& one : seats_) {
    if (one.there && one.has_model) last = std::min(last, one.next);
  }
  const bool all_again =
      policy_.on_failure == OnFailure::Restart || last == tasks_.front().training.steps;
  start.step = last;
  start.first = -1;
  for (int rank = 0; rank < ranks(); ++rank) {
    const Seat& of = seat(rank);
    start.steps.push_back(of.next);
    if (!of.there) continue;
    if (start.first < 0) start.first = rank;
    if (of.has_model) continue;
    std::int64_t& step = start.steps.back();
    step = all_again ? tasks_.front().first_step() : last;
    if (const auto found = checkpoint_of(rank)) {
      step = found->step;
      start.restores[static_cast<std::size_t>(rank)] = found->path;
      start.from_checkpoint = true;
    }
    start.step = std::min(start.step, step);
  }
  return start;
}

/// As it was at first, but for the group.
trainer::Task JobTalk::task_for(int rank) const {
  trainer::Task task = tasks_[static_cast<std::size_t>(rank)];
  task.training = group_.training;
  task.rank = group_.rank_of(rank);
  task.patience = policy_.timeout;
  trainer::Survival& survival = task.survival;
  survival.waits = policy_.survives();
  survival.group = number_;
  survival.identity = rank;
  survival.identities = ranks();
  // Who has a model of its own keeps it; otherwise the first keeps everybody's.
  if (!task.training.row().draws_peers && task.rank != 0) survival.checkpoint_every = 0;
  if (number_ == 0) return task;
  for (std::string* file : {&task.log, &task.sockets, &task.transfers}) {
    if (!file->empty()) *file += fmt::format(".{}", number_);
  }
  return task;
}

void JobTalk::fail(const std::string& why) {
  if (!failure_) failure_ = why;
}

}  // namespace tw::recover
