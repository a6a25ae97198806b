// SPDX-License-Identifier: Apache-2.0
// A new group of a job: who takes part as what, from which step, and with which model.
#include "trainwire/recover/job_talk.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tw::recover {
namespace {

using spec::OnFailure;

constexpr int kMostBarren = 5;

}  // namespace

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

}  // namespace tw::recover
